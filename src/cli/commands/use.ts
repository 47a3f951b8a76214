import { Command } from 'commander'
import { interruptSignal } from '../exit.ts'
import { reach, readServerAddress, rememberServer, settingsPath } from '../service.ts'

export function useCommand(): Command {
  return new Command('use')
    .description('remember the address of your service on this machine')
    .argument('<url>', 'e.g. https://pics.example')
    .action(use)
}

async function use(address: string): Promise<void> {
  const server = readServerAddress(address)
  await reach(server, { signal: interruptSignal(), retries: 1 })
  await rememberServer(server)
  process.stdout.write(`Uploads go to ${server} from now on (${settingsPath()}).\n`)
}
