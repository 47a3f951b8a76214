/** What became of one file, and how it is told. */
import type { Compressed, Sent } from '../../client/types.ts'
import { EXIT, type ExitCode, explain } from '../exit.ts'
import { addToHistory, type Entry } from '../history.ts'
import type { UploadFlags } from '../options.ts'
import type { Bars } from '../terminal/bars.ts'
import { describe, jsonText, LOCATION_WARNING, localTime, printable } from '../terminal/text.ts'

interface Linked {
  name: string
  compressed: Compressed
  sent: Sent
  /** Tells a later run that this file is there already. */
  source: Required<Pick<Entry, 'sha256' | 'mode' | 'server'>>
}

export type Outcome =
  | Linked
  /** Uploaded from this machine before. */
  | { name: string; known: Entry }
  /** The run ended before it was sent. */
  | { name: string; isUnsent: true }
  | { name: string; error: unknown }

interface Told {
  flags: UploadFlags
  bars: Bars
}

/**
 * Tells what became of a file. Its link, if it has one; else the code that it ends the command with. Links go to stdout,
 * alone. What people may want to know besides goes to stderr, and only on a terminal.
 */
export function settle(outcome: Outcome, { flags, bars }: Told): string | ExitCode {
  const { name } = outcome
  if ('sent' in outcome) {
    tell(outcome, { flags, bars })
    return outcome.sent.link
  }
  if ('known' in outcome) {
    const { id, link, key, delete: deleteLink } = outcome.known
    if (process.stderr.isTTY) bars.say(`${printable(name)}: uploaded before; --again uploads it once more`)
    bars.print(flags.json ? jsonText({ file: name, id, link, key, delete: deleteLink, known: true }) : link)
    return link
  }
  if ('isUnsent' in outcome) return EXIT.ok
  const { code, text } = explain(outcome.error)
  bars.say(`${printable(name)}: ${printable(text)}`)
  if (flags.json) bars.print(failureJson(name, outcome.error, { code, text }))
  return code
}

/** Keeps its key on this machine, and says so if it can't. */
export async function remember({ name, compressed, sent, source }: Linked, bars: Bars): Promise<void> {
  const { id, link, key, delete: deleteLink, expires } = sent
  const { type, bytesOut: bytes } = compressed
  const time = new Date().toISOString()
  const image = { id, link, key, delete: deleteLink, name, type, bytes, time, ...(expires && { expires }) }
  await addToHistory({ ...image, ...source }).catch(({ message }: Error) => {
    bars.say(
      `${printable(name)}: its key could not be kept (${message}). Delete it with: pinhole delete ${key}`,
    )
  })
}

function tell({ name, compressed, sent }: Linked, { flags, bars }: Told): void {
  const subject = printable(name)
  if (flags.mode === 'original' && compressed.hasLocation) bars.say(`${subject}: ${LOCATION_WARNING}`)
  else if (process.stderr.isTTY) bars.say(`${subject}: ${describe(compressed)}`)
  // A warning, so it is printed without a terminal too.
  if (flags.expires && !sent.expires) bars.say(`${subject}: it stays; this service does not know --expires`)
  else if (sent.expires && process.stderr.isTTY)
    bars.say(`${subject}: it stays until ${localTime(sent.expires)}`)
  const { bytesIn, bytesOut, type, action, hasLocation } = compressed
  const facts = { file: name, ...sent, bytesIn, bytesOut, type, action, hasLocation }
  bars.print(flags.json ? jsonText(facts) : sent.link)
}

/** One sentence why the run ended, and what was not sent. `isSingle`: of one file alone, which the sentence names. */
export function tellUnsent(names: string[], reason: unknown, isSingle: boolean, told: Told): ExitCode {
  const { flags, bars } = told
  const { code, text } = explain(reason)
  if (!isSingle) {
    bars.say(`${printable(text)} Not sent:`)
    for (const name of names) bars.say(`  ${printable(name)}`)
  } else if (code !== EXIT.interrupted) {
    bars.say(`${printable(names[0]!)}: ${printable(text)}`)
  }
  if (flags.json) for (const name of names) bars.print(failureJson(name, reason, { code, text }))
  return code
}

function failureJson(file: string, reason: unknown, { code, text }: ReturnType<typeof explain>): string {
  const { code: error = 'failed' } =
    code === EXIT.interrupted ? { code: 'interrupted' } : (reason as { code?: string })
  return jsonText({ file, error, detail: text })
}
