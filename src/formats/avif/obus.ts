/** Walks AV1 data by its open bitstream units (AV1 bitstream specification, 5.3). Only their headers are read. */

import { type Run, refuse } from '../bmff/fields.ts'
import { readRun } from '../bmff/file.ts'
import type { ByteSource } from '../image.ts'
import { SEQUENCE_HEADER_BYTES, type SequenceHeader, sequenceHeader } from './sequence-header.ts'

/** Most units in one file. Each frame of an animation takes two or three, and one for each tile group. */
const MAX_OBUS = 2 ** 18

/** One read takes the headers of several small units. Unit: bytes. */
const READ_BYTES = 512

/** The longest header: two bytes and a size of up to eight (4.10.5). Unit: bytes. */
const MAX_HEADER_BYTES = 10

const SEQUENCE_HEADER = 1
/** Frame header, tile group, frame. A frame header alone may show a frame decoded before. */
const PICTURE_TYPES: ReadonlySet<number> = new Set([3, 4, 6])

/** What an image item, or one sample of a track, is made of. */
export interface ObuSummary {
  sequence: SequenceHeader | null
  hasPicture: boolean
}

export type ObuWalk = (extents: Run[]) => Promise<ObuSummary>

/**
 * A walk over one file. It throws if the lengths of the units do not add up to the length of the data. Ask in
 * ascending order of place: what one read brought is used again.
 */
export function obuWalk(source: ByteSource): ObuWalk {
  let window: Uint8Array = new Uint8Array(0)
  let windowStart = 0
  let obus = 0

  /** Up to `length` bytes at `at`, fewer only before `end`. */
  async function peek(at: number, length: number, end: number): Promise<Uint8Array> {
    const wanted = Math.min(length, end - at)
    if (at < windowStart || at + wanted > windowStart + window.length) {
      const reach = Math.min(source.size, at + Math.max(READ_BYTES, wanted))
      window = await readRun(source, { start: at, end: reach })
      windowStart = at
    }
    return window.subarray(at - windowStart, at - windowStart + wanted)
  }

  return async (extents) => {
    const total = extents.reduce((sum, { start, end }) => sum + end - start, 0)
    const bytes = extents.length === 1 ? oneRun(extents[0]!, peek) : manyRuns(extents, peek)
    const summary: ObuSummary = { sequence: null, hasPicture: false }
    for (let at = 0; at < total; ) {
      if (++obus > MAX_OBUS) refuse('it has too many parts')
      const obu = obuFrom(await bytes(at, Math.min(MAX_HEADER_BYTES, total - at)), total - at)
      if (!obu || at + obu.body + obu.size > total) refuse('image data is cut off or inconsistent')
      if (obu.type === SEQUENCE_HEADER && !summary.sequence) {
        const payload = await bytes(at + obu.body, Math.min(obu.size, SEQUENCE_HEADER_BYTES))
        summary.sequence = sequenceHeader(payload)
        if (!summary.sequence) refuse('image data is cut off or inconsistent')
      }
      if (PICTURE_TYPES.has(obu.type) && obu.size > 0) summary.hasPicture = true
      at += obu.body + obu.size
    }
    return summary
  }
}

/** `left`: what the data still holds, for a last unit that does not say its size. */
function obuFrom(header: Uint8Array, left: number): { type: number; body: number; size: number } | null {
  const first = header[0]!
  if (first & 0x80) return null
  const type = (first >> 3) & 15
  let body = first & 0x04 ? 2 : 1
  if (!(first & 0x02)) return { type, body, size: left - body }
  let size = 0
  for (let i = 0; i < 8; i++) {
    const byte = header[body++]
    if (byte === undefined) return null
    size += (byte & 0x7f) * 2 ** (7 * i)
    if (byte < 0x80) return { type, body, size }
  }
  return null
}

type Peek = (at: number, length: number, end: number) => Promise<Uint8Array>
type ReadAt = (at: number, length: number) => Promise<Uint8Array>

function oneRun({ start, end }: Run, peek: Peek): ReadAt {
  return (at, length) => peek(start + at, length, end)
}

/** The runs read as if they stood one behind the other. */
function manyRuns(runs: Run[], peek: Peek): ReadAt {
  let index = 0
  let before = 0
  return async (at, length) => {
    // A walk moves forward, so this only ever steps to later runs.
    while (index < runs.length && at >= before + lengthOf(runs[index]!)) before += lengthOf(runs[index++]!)
    const bytes = new Uint8Array(length)
    let filled = 0
    for (let i = index, passed = before; filled < length && i < runs.length; passed += lengthOf(runs[i++]!)) {
      const { start, end } = runs[i]!
      const piece = await peek(start + at + filled - passed, length - filled, end)
      bytes.set(piece, filled)
      filled += piece.length
    }
    return bytes.subarray(0, filled)
  }
}

function lengthOf({ start, end }: Run): number {
  return end - start
}
