import { Command } from 'commander'
import { type Problem, rawPath, viewPath } from '../../protocol.ts'
import { EXIT, reportError, UsageError } from '../exit.ts'
import { type Entry, type History, type KeptEntry, openHistory } from '../memory/history.ts'
import { isNamedBy } from '../memory/named-by.ts'
import { interruptSignal } from '../terminal/interrupt.ts'
import { jsonText, printable } from '../terminal/printable.ts'
import { bytesText, localTime } from '../terminal/wording.ts'

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
  const history = openHistory()
  if (forget) return forgetNamed(history, forget)
  if (prune) return forgetGone(history)
  const entries = await history.list()
  for (const { file: _, ...entry } of entries) {
    process.stdout.write(`${json ? jsonText(entry) : lineOf(entry)}\n`)
  }
  if (entries.length === 0 && process.stderr.isTTY) {
    process.stderr.write(`Nothing yet. Uploads from this machine are remembered in ${history.folder}.\n`)
  }
}

function lineOf({ link, key, name, time, expires, bytes }: Entry): string {
  return `${localTime(time)}  ${printable(link)}  ${key}  ${bytesText(bytes).padStart(7)}  ${printable(name)}${expires === undefined ? '' : `  until ${localTime(expires)}`}`
}

async function forgetNamed(history: History, args: string[]): Promise<void> {
  const entries = await history.list()
  for (const word of args) {
    const found = entries.filter((entry) => isNamedBy(entry, word))
    if (found.length === 0) {
      process.exitCode = reportError(new UsageError('It is not in this machine’s history.'), word)
    }
    await forgetAll(history, found)
  }
}

async function forgetGone(history: History): Promise<void> {
  const signal = interruptSignal()
  for (const entry of await history.list()) {
    try {
      if (await isGone(entry, signal)) await forgetAll(history, [entry])
    } catch (error) {
      const code = reportError(error, entry.link)
      process.exitCode ||= code
      if (code === EXIT.interrupted) return
    }
  }
}

/**
 * Only what the service itself says is gone, in its own words: any server may answer 404 to an address, e.g. a proxy or what
 * stands there while the service is moved.
 */
async function isGone({ id, link }: Entry, signal: AbortSignal): Promise<boolean> {
  const raw = link.slice(0, -viewPath(id).length) + rawPath(id)
  const timed = AbortSignal.any([signal, AbortSignal.timeout(30_000)])
  try {
    // HEAD would tell the status alone. Of a picture that is there one byte comes.
    const headers = { Accept: 'application/problem+json', Range: 'bytes=0-0' }
    const answer = await fetch(raw, { headers, redirect: 'manual', signal: timed })
    const isProblem = answer.headers.get('Content-Type')?.startsWith(headers.Accept)
    if ((answer.status === 404 || answer.status === 410) && isProblem) {
      const problem: Partial<Problem> | null = await answer.json()
      return problem?.error === 'not-found' || problem?.error === 'removed'
    }
    await answer.body?.cancel()
    return false
  } catch (cause) {
    signal.throwIfAborted()
    throw new Error('Its service cannot be reached now, so it stays in the list.', { cause })
  }
}

async function forgetAll(history: History, entries: KeptEntry[]): Promise<void> {
  for (const entry of entries) {
    await history.forget(entry)
    process.stdout.write(`forgot ${printable(entry.link)}\n`)
  }
}
