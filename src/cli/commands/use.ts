import { Command } from 'commander'
import { endpointOf } from '../../client/api/endpoint.ts'
import { reach } from '../../client/api/reach.ts'
import { interruptSignal } from '../exit.ts'
import { readServerAddress, rememberServer, settingsPath } from '../service.ts'

export function useCommand(): Command {
  return new Command('use')
    .description('remember the address of your service on this machine')
    .argument('<url>', 'e.g. https://pics.example')
    .action(use)
}

async function use(address: string): Promise<void> {
  const server = readServerAddress(address)
  await reach(endpointOf(server), { signal: interruptSignal(), retries: 1 })
  await rememberServer(server)
  process.stdout.write(`Uploads go to ${server} from now on (${settingsPath()}).\n`)
}
