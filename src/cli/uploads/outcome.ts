/** What became of one file, and how it is told. */
import type { Compressed, Sent } from '../../client/types.ts'
import { EXIT, type ExitCode, explain } from '../exit.ts'
import type { History } from '../memory/history.ts'
import type { UploadFlags } from '../options.ts'
import type { Bars } from '../terminal/bars.ts'
import { printable } from '../terminal/printable.ts'
import { describe, LOCATION_WARNING } from '../terminal/wording.ts'

interface Linked {
  name: string
  compressed: Compressed
  sent: Sent
}

/** `error: null`: it was not tried. */
export type Outcome = Linked | { name: string; error: unknown }

export function isLinked(outcome: Outcome): outcome is Linked {
  return 'sent' in outcome
}

export async function remember(
  { name, compressed, sent }: Linked,
  history: History | null,
  bars: Bars,
): Promise<void> {
  const { id, link, key, delete: deleteLink } = sent
  const { type, bytesOut: bytes } = compressed
  const time = new Date().toISOString()
  await history?.add({ id, link, key, delete: deleteLink, name, type, bytes, time }).catch((error: Error) => {
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
  if (!flags.json) {
    bars.print(sent.link)
    return
  }
  const { bytesIn, bytesOut, type, action, hasLocation } = compressed
  bars.print(JSON.stringify({ file: name, ...sent, bytesIn, bytesOut, type, action, hasLocation }))
}

export function tellError(
  { name, error }: { name: string; error: unknown },
  flags: UploadFlags,
  bars: Bars,
): ExitCode {
  const { code, text } = explain(error)
  if (code !== EXIT.interrupted) {
    bars.say(`${printable(name)}: ${printable(text)}`)
    if (flags.json) {
      const { code: reason } = error as { code?: string }
      bars.print(JSON.stringify({ file: name, error: reason ?? 'failed', detail: text }))
    }
  }
  return code
}
