/** Walks AV1 data by its open bitstream units (AV1 bitstream specification, 5.3). Only their headers are read. */

import { joined } from '../../bytes.ts'
import { addInto, type Edit, zeroInto } from '../bmff/edits.ts'
import { isZero, type Run, refuse } from '../bmff/fields.ts'
import type { BoxFile } from '../bmff/file.ts'
import type { Cursor } from '../bytes/cursor.ts'
import { PIECE_BYTES } from '../image.ts'
import {
  MAX_HEADER_BYTES,
  type Obu,
  obuFrom,
  PADDING,
  SEQUENCE_HEADER,
  TEMPORAL_DELIMITER,
  TRAILING_BITS,
} from './obu.ts'
import {
  isSameSize,
  MAX_SEQUENCE_HEADER_BYTES,
  type SequenceHeader,
  sequenceHeader,
  TWO_SIZES,
  withoutTail,
} from './sequence-header.ts'

/** Most units in one file. Each frame of an animation takes two or three, and one for each tile group. */
const MAX_OBUS = 2 ** 18

/** Frame header, tile group, frame. A frame header alone may show a frame decoded before. */
const PICTURE_TYPES: ReadonlySet<number> = new Set([3, 4, 6])

/**
 * What decoders read: temporal delimiter, redundant frame header, and the above. The rest is metadata, padding, lists of
 * tiles for another kind of stream, and types that are reserved.
 */
const DECODED_TYPES: ReadonlySet<number> = new Set([SEQUENCE_HEADER, TEMPORAL_DELIMITER, 7, ...PICTURE_TYPES])

/** A temporal delimiter has nothing in it (5.6). */
function isDecoded({ type, size }: Obu): boolean {
  return DECODED_TYPES.has(type) && (type !== TEMPORAL_DELIMITER || size === 0)
}

/** What an image item, or one sample of a track, is made of. */
export interface ObuSummary {
  sequence: SequenceHeader | null
  hasPicture: boolean
}

export type ObuWalk = (extents: Run[]) => Promise<ObuSummary>

/** How often padding and metadata may be looked through: items and tracks may share their data. */
const MOST_PASSES = 4

/**
 * A walk over one file. It throws if the lengths of the units do not add up to the length of the data. Ask in
 * ascending order of place: what one read brought is used again. `edits` gets what makes padding of the units that no
 * decoder reads: they keep their places.
 */
export function obuWalk({ source, cursor }: BoxFile, edits: Edit[]): ObuWalk {
  let obus = 0
  let bytesLeft = MOST_PASSES * source.size
  return async (extents) => {
    const data = readerOf(cursor, extents)
    const summary: ObuSummary = { sequence: null, hasPicture: false }
    for (let at = 0; at < data.length; ) {
      if (++obus > MAX_OBUS) refuse('its image data has too many units')
      const left = data.length - at
      const obu = obuFrom(data.peek(at, MAX_HEADER_BYTES) ?? (await data.load(at, MAX_HEADER_BYTES)), left)
      if (!obu || obu.body + obu.size > left) refuse('an AV1 unit (OBU) is longer than the data around it')
      if (obu.type === SEQUENCE_HEADER) {
        if (obu.size > MAX_SEQUENCE_HEADER_BYTES) refuse('a sequence header is too long')
        const payload = await data.load(at + obu.body, obu.size)
        const sequence =
          sequenceHeader(payload) ?? refuse('an AV1 unit (OBU) is longer than the data around it')
        if (summary.sequence && !isSameSize(summary.sequence, sequence)) refuse(TWO_SIZES)
        summary.sequence = sequence
        const clean = withoutTail(payload, sequence)
        if (clean !== payload) overwriteInto(edits, data, at + obu.body, payload, clean)
      }
      if (PICTURE_TYPES.has(obu.type) && obu.size > 0) summary.hasPicture = true
      if (!isDecoded(obu)) {
        bytesLeft -= obu.size
        if (bytesLeft < 0) refuse('its boxes or images overlap')
        if (cursor.work.spendBytes(obu.size)) await cursor.work.turn()
        await blankUnit(edits, data, at, obu)
      }
      at += obu.body + obu.size
    }
    return summary
  }
}

/** Turns a unit into padding with nothing in it, unless it is that already. */
async function blankUnit(
  edits: Edit[],
  data: RunReader,
  at: number,
  { type, body, size }: Obu,
): Promise<void> {
  if (type !== PADDING) {
    const [first = 0] = await data.load(at, 1)
    for (const run of data.runs(at, 1))
      addInto(edits, { ...run, bytes: Uint8Array.of((first & 0x87) | (PADDING << 3)) })
  }
  if (size === 0) return
  const end = at + body + size
  for (let from = at + body; from < end; ) {
    const piece = await data.load(from, Math.min(end - from, PIECE_BYTES))
    const isLast = from + piece.length === end
    const zeros = isLast ? piece.subarray(0, -1) : piece
    if (!isZero(zeros)) for (const run of data.runs(from, zeros.length)) zeroInto(edits, run)
    if (isLast && piece.at(-1) !== TRAILING_BITS) {
      for (const run of data.runs(end - 1, 1)) addInto(edits, { ...run, bytes: Uint8Array.of(TRAILING_BITS) })
    }
    from += piece.length
  }
}

/** Writes what differs of `clean` over `payload`, which stands at `at`. */
function overwriteInto(
  edits: Edit[],
  data: RunReader,
  at: number,
  payload: Uint8Array,
  clean: Uint8Array,
): void {
  const from = payload.findIndex((byte, index) => byte !== clean[index])
  if (from < 0) return
  let next = from
  for (const run of data.runs(at + from, payload.length - from)) {
    const bytes = clean.subarray(next, next + lengthOf(run))
    addInto(edits, { ...run, bytes })
    next += bytes.length
  }
}

interface RunReader {
  /** Length of all runs. Unit: bytes. */
  readonly length: number
  /** `length` bytes from `at`, or all up to the end. `undefined` if that needs `load`. */
  peek(at: number, length: number): Uint8Array | undefined
  load(at: number, length: number): Promise<Uint8Array>
  /** Where in the file the bytes are. All of them must be there. */
  runs(at: number, length: number): Run[]
}

/** Runs of a file read as if they stood one behind the other. */
function readerOf(cursor: Cursor, runs: Run[]): RunReader {
  const total = runs.reduce((sum, run) => sum + lengthOf(run), 0)
  let index = 0
  let before = 0

  /** Where in the file a byte is, and how many follow it in the same run. */
  function locate(at: number): { start: number; left: number } {
    // Reading ahead may have moved on to a later run.
    while (index > 0 && at < before) before -= lengthOf(runs[--index]!)
    for (let run = runs[index]; run && at >= before + lengthOf(run); run = runs[++index])
      before += lengthOf(run)
    const run = runs[index]
    return run ? { start: run.start + at - before, left: before + lengthOf(run) - at } : { start: 0, left: 0 }
  }

  async function pieceAt(at: number, length: number): Promise<Uint8Array> {
    const { start, left } = locate(at)
    const wanted = Math.min(length, left)
    const bytes = cursor.peek(start, wanted) ?? (await cursor.load(start, wanted))
    if (bytes.length < wanted) refuse('it is cut off')
    return bytes.subarray(0, wanted)
  }

  return {
    length: total,
    runs(at, length) {
      const found: Run[] = []
      for (let from = at; from < at + length; ) {
        const { start, left } = locate(from)
        const end = start + Math.min(left, at + length - from)
        found.push({ start, end })
        from += end - start
      }
      return found
    },
    peek(at, length) {
      const { start, left } = locate(at)
      const wanted = Math.min(length, total - at)
      return wanted <= left ? cursor.peek(start, wanted)?.subarray(0, wanted) : undefined
    },
    async load(at, length) {
      const wanted = Math.min(length, total - at)
      const pieces: Uint8Array[] = []
      for (let filled = 0; filled < wanted; ) {
        const piece = await pieceAt(at + filled, wanted - filled)
        pieces.push(piece)
        filled += piece.length
      }
      const [only] = pieces
      return only && pieces.length === 1 ? only : joined(...pieces)
    },
  }
}

function lengthOf({ start, end }: Run): number {
  return end - start
}
