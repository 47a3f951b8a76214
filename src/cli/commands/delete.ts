import { Command } from 'commander'
import { remove } from '../../client/api/remove.ts'
import { KEY_PATTERN } from '../../protocol.ts'
import { CommandError, EXIT, type ExitCode, interruptSignal, reportError } from '../exit.ts'
import { forgetEntry, isNamedBy, readHistory } from '../history.ts'
import { retriesOption } from '../options.ts'
import { serverOf, serverOption, withScheme } from '../service.ts'
import { printable } from '../terminal/text.ts'

export function deleteCommand(): Command {
  return new Command('delete')
    .description('permanently delete images')
    .argument('<link-or-key...>', 'links uploaded from this machine, deletion keys, or delete addresses')
    .addOption(serverOption())
    .addOption(retriesOption())
    .action(deleteAll)
}

async function deleteAll(args: string[], flags: { server?: string; retries: number }): Promise<void> {
  const { retries } = flags
  const { server } = serverOf(flags)
  const signal = interruptSignal()
  const entries = await readHistory()
  let exit: ExitCode = EXIT.ok
  for (const arg of args) {
    const entry = entries.find((entry) => isNamedBy(entry, arg))
    try {
      const address = entry?.delete ?? withScheme(arg)
      if (!isKey(address)) {
        throw new CommandError(
          'file',
          'No deletion key for this image on this machine. Use its deletion key or delete address instead.',
        )
      }
      // A delete address includes its service; a bare key doesn't.
      await remove(address, { signal, retries, ...(!URL.canParse(address) && { baseUrl: server }) })
      if (entry) await forgetEntry(entry)
      process.stdout.write(`deleted ${printable(entry?.link ?? arg)}\n`)
    } catch (error) {
      const code = reportError(error, arg)
      exit ||= code
      if (signal.aborted) break
    }
  }
  process.exitCode = exit
}

function isKey(address: string): boolean {
  return KEY_PATTERN.test(URL.parse(address)?.searchParams.get('key') ?? address)
}
