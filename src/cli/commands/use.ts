import { Command } from 'commander'
import { endpointOf } from '../../client/api/endpoint.ts'
import { reach } from '../../client/api/reach.ts'
import { settingsPath, writeSettings } from '../memory/settings.ts'
import { readServerAddress } from '../server-address.ts'
import { interruptSignal } from '../terminal/interrupt.ts'

export function useCommand(): Command {
  return new Command('use')
    .description('remember the address of your service on this machine')
    .argument('<url>', 'e.g. https://pics.example')
    .action(use)
}

async function use(address: string): Promise<void> {
  const server = readServerAddress(address)
  await reach(endpointOf(server), { signal: interruptSignal(), retries: 1 })
  await writeSettings({ server })
  process.stdout.write(`Uploads go to ${server} from now on (${settingsPath()}).\n`)
}
