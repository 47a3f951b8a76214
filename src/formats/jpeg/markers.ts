/** Finds markers in a JPEG (ITU-T T.81, B.1.1), between segments and inside entropy-coded data. */
import type { Cursor } from '../bytes/cursor.ts'
import { cutOff, damaged } from '../damaged.ts'
import { EOI, SOI, TEM } from './segments.ts'

export function isStandalone(marker: number): boolean {
  return marker === SOI || marker === EOI || marker === TEM || isRestart(marker)
}

function isRestart(marker: number): boolean {
  return marker >= 0xd0 && marker <= 0xd7
}

/**
 * The marker at `at`, after any number of fill bytes. With `skipStray`, stray bytes before the marker are skipped too:
 * decoders ignore them with a warning, and they are not kept. `markerAt`: offset of the marker with its fill bytes.
 */
export async function nextMarker(
  cursor: Cursor,
  at: number,
  skipStray: boolean,
): Promise<{ marker: number; markerAt: number; bodyAt: number }> {
  let markerAt = at
  for (let from = at; ; ) {
    const bytes = cursor.peek(from, 2) ?? (await cursor.load(from, 2))
    if (bytes.length < 2) throw cutOff('JPEG')
    if (bytes[0] !== 0xff && !skipStray) {
      throw damaged('The JPEG file is damaged: it does not start with a marker.')
    }
    const stray = skipStray ? strayLength(bytes) : 0
    if (stray > 0) {
      from += stray
      markerAt = from
      continue
    }
    let index = 1
    while (bytes[index] === 0xff) index++
    const marker = bytes[index]
    if (marker !== undefined) return { marker, markerAt, bodyAt: from + index + 1 }
    from += bytes.length - 1
  }
}

/**
 * Number of bytes before the first marker with its fill bytes, or before trailing fill bytes. A single pass, because a file
 * of nothing but stuffed zeros has millions of candidates.
 */
function strayLength(bytes: Uint8Array): number {
  let fill = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === 0xff) fill++
    else if (fill > 0 && byte !== 0) return at - fill
    else fill = 0
  }
  return bytes.length - fill
}

/**
 * Skips the entropy-coded data of a scan, up to the next marker other than a restart. `expectedRestarts`: the number of
 * restart markers the scan should have (B.1.1.3, E.1.4). Checks that they cycle through 0 to 7.
 */
export async function skipScan(
  cursor: Cursor,
  start: number,
  expectedRestarts: number,
): Promise<{
  end: number
  /** End of the data that a decoder reads: before the first excess restart marker. */
  decodedEnd: number
  restarts: number
}> {
  let restarts = 0
  let decodedEnd: number | undefined
  for (let at = start; ; ) {
    const bytes = cursor.peek(at, 2) ?? (await cursor.load(at, 2))
    if (bytes.length < 2) throw cutOff('JPEG')
    let index = bytes.indexOf(0xff)
    for (; index >= 0 && index + 1 < bytes.length; index = bytes.indexOf(0xff, index)) {
      const next = bytes[index + 1] ?? 0
      if (next === 0xff) {
        while (bytes[index + 1] === 0xff) index++
      } else if (next === 0) {
        index += 2
      } else if (isRestart(next)) {
        if (restarts >= expectedRestarts) decodedEnd ??= at + index
        else if (next !== 0xd0 + (restarts & 7)) {
          throw damaged(
            'The JPEG file is damaged: a restart marker is missing, and with it a part of the picture.',
          )
        }
        restarts++
        index += 2
      } else {
        return { end: at + index, decodedEnd: decodedEnd ?? at + index, restarts }
      }
    }
    at += index < 0 ? bytes.length : index
  }
}
