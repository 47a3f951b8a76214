import { Command } from 'commander'
import { CommandError, EXIT, interruptSignal, reportError } from '../exit.ts'
import { type Entry, forgetEntry, HISTORY, isNamedBy, type KeptEntry, readHistory } from '../history.ts'
import { isUploadGone } from '../service.ts'
import { bytesText, jsonText, localTime, printable } from '../terminal/text.ts'

interface ListFlags {
  json?: true
  forget?: string[]
  prune?: true
}

export function listCommand(): Command {
  return new Command('list')
    .description('show what was uploaded from this machine, with the keys that delete it')
    .option('--json', 'print one JSON object a line')
    .option(
      '--forget <link-or-key...>',
      'forget these on this machine; the pictures stay up, and their keys are lost',
    )
    .option('--prune', 'forget what its service no longer has')
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
    process.stderr.write(`Nothing yet. Uploads from this machine are remembered in ${HISTORY}.\n`)
  }
}

function lineOf({ link, key, name, time, expires, bytes }: Entry): string {
  return `${localTime(time)}  ${printable(link)}  ${key}  ${bytesText(bytes).padStart(7)}  ${printable(name)}${expires === undefined ? '' : `  until ${localTime(expires)}`}`
}

async function forgetNamed(args: string[]): Promise<void> {
  const entries = await readHistory()
  for (const word of args) {
    const found = entries.filter((entry) => isNamedBy(entry, word))
    if (found.length === 0) {
      process.exitCode = reportError(new CommandError('usage', 'It is not in this machine’s history.'), word)
    }
    await forgetAll(found)
  }
}

async function forgetGone(): Promise<void> {
  const signal = interruptSignal()
  for (const entry of await readHistory()) {
    try {
      const isGone = await isUploadGone(entry, signal).catch((cause) => {
        signal.throwIfAborted()
        throw new Error('Its service cannot be reached now, so it stays in the list.', { cause })
      })
      if (isGone) await forgetAll([entry])
    } catch (error) {
      const code = reportError(error, entry.link)
      process.exitCode ||= code
      if (code === EXIT.interrupted) return
    }
  }
}

async function forgetAll(entries: KeptEntry[]): Promise<void> {
  for (const entry of entries) {
    await forgetEntry(entry)
    process.stdout.write(`forgot ${printable(entry.link)}\n`)
  }
}
