/** Finds the markers of a JPEG (ITU-T T.81, B.1.1), between segments and inside coded data. */
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
 * The marker at `at`, behind any number of fill bytes. Where `passing`, also behind bytes that are no marker: decoders pass
 * over them with a warning, and nothing of them is kept. `markerAt`: where the marker with its fill bytes starts.
 */
export async function nextMarker(
  cursor: Cursor,
  at: number,
  passing: boolean,
): Promise<{ marker: number; markerAt: number; bodyAt: number }> {
  let markerAt = at
  for (let from = at; ; ) {
    const bytes = cursor.peek(from, 2) ?? (await cursor.load(from, 2))
    if (bytes.length < 2) throw cutOff('JPEG')
    if (bytes[0] !== 0xff && !passing) {
      throw damaged('The JPEG file is damaged: it does not start with a marker.')
    }
    const stray = passing ? strayLength(bytes) : 0
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
 * How many bytes come before the first marker with its fill bytes, or before fill bytes at the end. In one go: a file of
 * nothing but stuffed zeros has millions.
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
 * Passes over a scan's coded data, to the next marker other than a restart. `due`: how many restarts the scan has (B.1.1.3,
 * E.1.4). Checks that those count 0 to 7.
 */
export async function passScan(
  cursor: Cursor,
  start: number,
  due: number,
): Promise<{
  end: number
  /** Where the data ends that a decoder reads: before a restart that is one too many. */
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
        if (restarts >= due) decodedEnd ??= at + index
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
