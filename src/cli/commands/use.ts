import { Command } from 'commander'
import { interruptSignal } from '../exit.ts'
import { checkReachable, readServerAddress, rememberServer, settingsPath } from '../service.ts'

export function useCommand(): Command {
  return new Command('use')
    .description('set the default service of this machine')
    .argument('<url>', 'e.g. https://pics.example')
    .action(use)
}

async function use(address: string): Promise<void> {
  const server = readServerAddress(address)
  await checkReachable(server, { signal: interruptSignal(), retries: 1 })
  await rememberServer(server)
  process.stdout.write(`Uploads now go to ${server} (saved in ${settingsPath()}).\n`)
}
