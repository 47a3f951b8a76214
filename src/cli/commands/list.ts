import { Command } from 'commander'
import { CommandError, EXIT, interruptSignal, reportError } from '../exit.ts'
import {
  type Entry,
  forgetEntry,
  HISTORY_FOLDER,
  isNamedBy,
  readHistory,
  type StoredEntry,
} from '../history.ts'
import { isUploadGone } from '../service.ts'
import { bytesText, jsonText, localTime, printable } from '../terminal/text.ts'

interface ListFlags {
  json?: true
  forget?: string[]
  prune?: true
}

export function listCommand(): Command {
  return new Command('list')
    .description('list uploads from this machine, with their deletion keys')
    .option('--json', 'print one JSON object per line')
    .option(
      '--forget <link-or-key...>',
      'remove uploads from this list; the images stay online and their keys are lost',
    )
    .option('--prune', 'remove uploads that no longer exist from this list')
    .action(list)
}

async function list({ json, forget, prune }: ListFlags): Promise<void> {
  if (forget) return forgetNamed(forget)
  if (prune) return forgetGone()
  const entries = await readHistory()
  for (const { file: _, ...entry } of entries) {
    process.stdout.write(`${json ? jsonText(entry) : lineOf(entry)}\n`)
  }
  if (entries.length === 0 && process.stderr.isTTY) {
    process.stderr.write(`No uploads yet. Uploads from this machine are saved in ${HISTORY_FOLDER}.\n`)
  }
}

function lineOf({ link, key, name, time, expires, bytes }: Entry): string {
  return `${localTime(time)}  ${printable(link)}  ${key}  ${bytesText(bytes).padStart(7)}  ${printable(name)}${expires === undefined ? '' : `  until ${localTime(expires)}`}`
}

async function forgetNamed(args: string[]): Promise<void> {
  const entries = await readHistory()
  for (const arg of args) {
    const found = entries.filter((entry) => isNamedBy(entry, arg))
    if (found.length === 0) {
      process.exitCode = reportError(new CommandError('usage', 'This is not in the list of uploads.'), arg)
    }
    await forgetAll(found)
  }
}

async function forgetGone(): Promise<void> {
  const signal = interruptSignal()
  /** Services that did not answer: waiting for each of their uploads would take hours. */
  const silent = new Set<string>()
  for (const entry of await readHistory()) {
    try {
      const { origin } = new URL(entry.link)
      if (silent.has(origin)) continue
      const isGone = await isUploadGone(entry, signal).catch((cause) => {
        signal.throwIfAborted()
        silent.add(origin)
        throw new CommandError(
          'unreachable',
          'Its service can’t be reached, so its uploads stay in the list.',
          { cause },
        )
      })
      if (isGone) await forgetAll([entry])
    } catch (error) {
      const code = reportError(error, entry.link)
      process.exitCode ||= code
      if (code === EXIT.interrupted) return
    }
  }
}

async function forgetAll(entries: StoredEntry[]): Promise<void> {
  for (const entry of entries) {
    await forgetEntry(entry)
    process.stdout.write(`forgot ${printable(entry.link)}\n`)
  }
}
