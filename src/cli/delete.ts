import { Command } from 'commander'
import { remove } from '../client/api/remove.ts'
import { KEY_PATTERN } from '../protocol.ts'
import { EXIT, type ExitCode, FileError, reportError } from './exit.ts'
import { type Entry, openHistory } from './history.ts'
import { interruptSignal } from './interrupt.ts'
import { retriesOption, serverOption } from './options.ts'

export function deleteCommand(): Command {
  return new Command('delete')
    .description('delete images for good')
    .argument('<link-or-key...>', 'links uploaded from this machine, deletion keys, or delete addresses')
    .addOption(serverOption())
    .addOption(retriesOption())
    .action(deleteAll)
}

async function deleteAll(
  words: string[],
  { server, retries }: { server: string; retries: number },
): Promise<void> {
  const signal = interruptSignal()
  const history = openHistory()
  const entries = await history.list()
  let exit: ExitCode = EXIT.ok
  for (const word of words) {
    const entry = entries.find((entry) => names(entry, word))
    try {
      if (!entry && !isKey(word)) {
        throw new FileError(
          'This machine has no key for it. Give the deletion key or the delete address instead.',
        )
      }
      const address = entry?.delete ?? word
      // A delete address knows its service; a bare key doesn't.
      await remove(address, { signal, retries, ...(!URL.canParse(address) && { baseUrl: server }) })
      if (entry) await history.forget(entry)
      process.stdout.write(`deleted ${entry?.link ?? word}\n`)
    } catch (error) {
      const code = reportError(error, word)
      exit ||= code
      if (signal.aborted) break
    }
  }
  process.exitCode = exit
}

function names(entry: Entry, word: string): boolean {
  return [entry.link, entry.key, entry.delete, entry.id].includes(word) || rawOf(word) === entry.link
}

/** The page's link for a direct link. */
function rawOf(word: string): string {
  return word.replace(/\/raw\/([0-9A-Za-z]+)(?:\.[a-z]+)?(?:\?.*)?$/, '/$1')
}

function isKey(word: string): boolean {
  return KEY_PATTERN.test(URL.parse(word)?.searchParams.get('key') ?? word)
}
