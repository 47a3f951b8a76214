/** What became of one file, and how it is told. */
import type { Compressed, Sent } from '../../client/types.ts'
import { EXIT, type ExitCode, explain } from '../exit.ts'
import type { Entry, History } from '../memory/history.ts'
import type { UploadFlags } from '../options.ts'
import type { Bars } from '../terminal/bars.ts'
import { jsonText, printable } from '../terminal/printable.ts'
import { describe, LOCATION_WARNING, localTime } from '../terminal/wording.ts'

interface Linked {
  name: string
  compressed: Compressed
  sent: Sent
  /** Tells a later run that this file is there already. */
  source: Required<Pick<Entry, 'sha256' | 'mode' | 'server'>>
}

/** Uploaded from this machine before. */
interface Known {
  name: string
  known: Entry
}

/** The run ended before it was sent. */
interface Unsent {
  name: string
  isUnsent: true
}

export type Outcome = Linked | Known | Unsent | { name: string; error: unknown }

export async function remember(
  { name, compressed, sent, source }: Linked,
  history: History | null,
  bars: Bars,
): Promise<void> {
  const { id, link, key, delete: deleteLink, expires } = sent
  const { type, bytesOut: bytes } = compressed
  const time = new Date().toISOString()
  await history
    ?.add({
      id,
      link,
      key,
      delete: deleteLink,
      name,
      type,
      bytes,
      time,
      ...(expires && { expires }),
      ...source,
    })
    .catch((error: Error) => {
      bars.say(
        `${printable(name)}: its key could not be kept (${error.message}). Delete it with: pinhole delete ${key}`,
      )
    })
}

/** Links go to stdout, alone. What people may want to know besides goes to stderr, and only on a terminal. */
export function tell({ name, compressed, sent }: Linked, flags: UploadFlags, bars: Bars): void {
  const subject = printable(name)
  if (flags.mode === 'original' && compressed.hasLocation) bars.say(`${subject}: ${LOCATION_WARNING}`)
  else if (process.stderr.isTTY) bars.say(`${subject}: ${describe(compressed)}`)
  // A warning, so it is printed without a terminal too.
  if (flags.expires && !sent.expires) bars.say(`${subject}: it stays; this service does not know --expires`)
  else if (sent.expires && process.stderr.isTTY)
    bars.say(`${subject}: it stays until ${localTime(sent.expires)}`)
  if (!flags.json) {
    bars.print(sent.link)
    return
  }
  const { bytesIn, bytesOut, type, action, hasLocation } = compressed
  bars.print(jsonText({ file: name, ...sent, bytesIn, bytesOut, type, action, hasLocation }))
}

export function tellKnown({ name, known }: Known, flags: UploadFlags, bars: Bars): void {
  if (process.stderr.isTTY) bars.say(`${printable(name)}: uploaded before; --again uploads it once more`)
  const { id, link, key, delete: deleteLink } = known
  bars.print(flags.json ? jsonText({ file: name, id, link, key, delete: deleteLink, known: true }) : link)
}

/** One sentence why the run ended, and what was not sent. `isSingle`: of one file alone, which the sentence names. */
export function tellUnsent(
  names: string[],
  reason: unknown,
  isSingle: boolean,
  flags: UploadFlags,
  bars: Bars,
): ExitCode {
  const { code, text } = explain(reason)
  if (isSingle) {
    if (code !== EXIT.interrupted) bars.say(`${printable(names[0]!)}: ${printable(text)}`)
  } else {
    bars.say(`${printable(text)} Not sent:`)
    for (const name of names) bars.say(`  ${printable(name)}`)
  }
  if (flags.json) {
    const { code: error = 'failed' } =
      code === EXIT.interrupted ? { code: 'interrupted' } : (reason as { code?: string })
    for (const name of names) bars.print(jsonText({ file: name, error, detail: text }))
  }
  return code
}

export function tellError(
  { name, error }: { name: string; error: unknown },
  flags: UploadFlags,
  bars: Bars,
): ExitCode {
  const { code, text } = explain(error)
  bars.say(`${printable(name)}: ${printable(text)}`)
  if (flags.json) {
    const { code: reason } = error as { code?: string }
    bars.print(jsonText({ file: name, error: reason ?? 'failed', detail: text }))
  }
  return code
}
