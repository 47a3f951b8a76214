/** The outcome of one file's upload, and how it is reported. */
import type { Compressed, Sent } from '../../client/types.ts'
import { EXIT, type ExitCode, explain } from '../exit.ts'
import { addToHistory, type Entry } from '../history.ts'
import type { UploadFlags } from '../options.ts'
import { rawOf } from '../service.ts'
import type { Bars } from '../terminal/bars.ts'
import { describe, jsonText, LOCATION_WARNING, localTime, printable } from '../terminal/text.ts'

interface Uploaded {
  name: string
  compressed: Compressed
  sent: Sent
  /** Lets a later run recognise that this file is already uploaded. */
  source: Required<Pick<Entry, 'sha256' | 'mode' | 'server'>>
}

export type Outcome =
  | Uploaded
  /** Already uploaded from this machine. */
  | { name: string; known: Entry }
  /** The run stopped before the file was sent. */
  | { name: string; isUnsent: true }
  | { name: string; error: unknown }

interface Reporting {
  flags: UploadFlags
  bars: Bars
}

/**
 * Reports one file. Returns its link if it has one, or else an exit code. Links, or JSON, go to stdout; errors and warnings to
 * stderr; other details to stderr only on a terminal. Files that were not sent are left to `reportUnsent`.
 */
export function report(outcome: Outcome, { flags, bars }: Reporting): string | ExitCode {
  const { name } = outcome
  if ('sent' in outcome) {
    reportUploaded(outcome, { flags, bars })
    return outcome.sent.link
  }
  if ('known' in outcome) {
    const { known } = outcome
    const { id, link, key, delete: deleteLink } = known
    if (process.stderr.isTTY)
      bars.log(`${printable(name)}: already uploaded (use --again to upload it again)`)
    const facts = { file: name, id, link, key, delete: deleteLink, raw: rawOf(known), known: true }
    bars.print(flags.json ? jsonText(facts) : link)
    return link
  }
  if ('isUnsent' in outcome) return EXIT.ok
  const { code, text } = explain(outcome.error)
  bars.log(`${printable(name)}: ${printable(text)}`)
  if (flags.json) bars.print(failureJson(name, outcome.error, { code, text }))
  return code
}

/** Saves the link and key on this machine, or warns if that fails. */
export async function saveToHistory({ name, compressed, sent, source }: Uploaded, bars: Bars): Promise<void> {
  const { id, link, key, delete: deleteLink, expires } = sent
  const { type, bytesOut: bytes } = compressed
  const time = new Date().toISOString()
  const image = { id, link, key, delete: deleteLink, name, type, bytes, time, ...(expires && { expires }) }
  await addToHistory({ ...image, ...source }).catch(({ message }: Error) => {
    bars.log(
      `${printable(name)}: could not save its deletion key (${message}). To delete it: pinhole delete ${key}`,
    )
  })
}

function reportUploaded({ name, compressed, sent }: Uploaded, { flags, bars }: Reporting): void {
  const subject = printable(name)
  if (flags.mode === 'original' && compressed.hasLocation) bars.log(`${subject}: ${LOCATION_WARNING}`)
  else if (process.stderr.isTTY) bars.log(`${subject}: ${describe(compressed)}`)
  // A warning, so it is also printed without a terminal.
  if (flags.expires && !sent.expires)
    bars.log(`${subject}: will not expire, because this service doesn't support --expires`)
  else if (sent.expires && process.stderr.isTTY) bars.log(`${subject}: expires ${localTime(sent.expires)}`)
  const { bytesIn, bytesOut, type, action, hasLocation } = compressed
  const facts = { file: name, ...sent, bytesIn, bytesOut, type, action, hasLocation }
  bars.print(flags.json ? jsonText(facts) : sent.link)
}

/** Reports why the run stopped and which files were not uploaded. `isSingle`: the command only had this one file. */
export function reportUnsent(
  names: string[],
  reason: unknown,
  isSingle: boolean,
  { flags, bars }: Reporting,
): ExitCode {
  const { code, text } = explain(reason)
  if (!isSingle) {
    bars.log(`${printable(text)} Not uploaded:`)
    for (const name of names) bars.log(`  ${printable(name)}`)
  } else if (code !== EXIT.interrupted) {
    bars.log(`${printable(names[0]!)}: ${printable(text)}`)
  }
  if (flags.json) for (const name of names) bars.print(failureJson(name, reason, { code, text }))
  return code
}

function failureJson(file: string, reason: unknown, { code, text }: ReturnType<typeof explain>): string {
  const { code: error = 'failed' } =
    code === EXIT.interrupted ? { code: 'interrupted' } : (reason as { code?: string })
  return jsonText({ file, error, detail: text })
}
