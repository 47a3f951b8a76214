/** Parses AV1 data into open bitstream units (AV1 bitstream specification, 5.3). Reads only their headers. */
import { concatBytes } from '../../bytes.ts'
import { addEdit, addZeros, type Edit, writeEdits } from '../bmff/edits.ts'
import { type Box, type Fields, isZero, type Run, refuse } from '../bmff/fields.ts'
import type { BoxFile } from '../bmff/file.ts'
import type { Cursor } from '../bytes/cursor.ts'
import { CHUNK_BYTES } from '../image.ts'
import {
  isSameSize,
  MAX_SEQUENCE_HEADER_BYTES,
  type SequenceHeader,
  sequenceHeader,
  TRAILING_BITS,
  TWO_SIZES,
  withoutTail,
} from './sequence-header.ts'

/** The longest header: two bytes and a size of up to eight (4.10.5). Unit: bytes. */
const MAX_HEADER_BYTES = 10

const SEQUENCE_HEADER = 1
const TEMPORAL_DELIMITER = 2
const PADDING = 15

interface Obu {
  type: number
  /** Length of the header. Unit: bytes. */
  body: number
  /** Size of what follows the header. Unit: bytes. */
  size: number
}

/** Parses a unit header. `null` when it is invalid. `left`: length of the remaining data, for a last unit without a size. */
function obuFrom(header: Uint8Array, left: number): Obu | null {
  const [first] = header
  if (first === undefined || first & 0x80) return null
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

/** Limit per file. Each frame of an animation takes two or three units, plus one per tile group. */
const MAX_OBUS = 2 ** 18

/** Frame header, tile group, frame. A frame header on its own may show a previously decoded frame. */
const PICTURE_TYPES: ReadonlySet<number> = new Set([3, 4, 6])

/**
 * The unit types that decoders read. Others are metadata, padding, redundant frame headers (5.9.1), tile lists for large-scale
 * tile streams, and reserved types.
 */
const DECODED_TYPES: ReadonlySet<number> = new Set([SEQUENCE_HEADER, TEMPORAL_DELIMITER, ...PICTURE_TYPES])

/** True if decoders read the unit. A temporal delimiter must be empty (5.6). */
function isDecoded({ type, size }: Obu): boolean {
  return DECODED_TYPES.has(type) && (type !== TEMPORAL_DELIMITER || size === 0)
}

/** Summary of the units of an image item or a track sample. */
export interface ObuSummary {
  sequence: SequenceHeader | null
  hasPicture: boolean
}

export type ObuWalk = (extents: Run[]) => Promise<ObuSummary>

/** Limit on scans of padding and metadata, relative to the file size: items and tracks may share data. */
const MAX_PASSES = 4

/**
 * Creates a walk over the units of a file. The walk throws when the lengths of the units do not add up to the length of the
 * data. Call it in file order, so that reads are shared. Units that decoders do not read are turned into padding of the same
 * length, by edits added to `edits`.
 */
export function obuWalk({ source, cursor }: BoxFile, edits: Edit[]): ObuWalk {
  let obus = 0
  let bytesLeft = MAX_PASSES * source.size
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
        const from = payload.findIndex((byte, index) => byte !== clean[index])
        if (from >= 0) overwriteInto(edits, data, at + obu.body + from, clean.subarray(from))
      }
      if (PICTURE_TYPES.has(obu.type) && obu.size > 0) summary.hasPicture = true
      if (!isDecoded(obu)) {
        bytesLeft -= obu.size
        if (bytesLeft < 0) refuse('its boxes or images overlap')
        if (cursor.work.spendBytes(obu.size)) await cursor.work.yield()
        await blankUnit(edits, data, at, obu)
      }
      at += obu.body + obu.size
    }
    return summary
  }
}

/** Turns a unit into empty padding, unless it is that already. */
async function blankUnit(
  edits: Edit[],
  data: RunReader,
  at: number,
  { type, body, size }: Obu,
): Promise<void> {
  if (type !== PADDING) {
    const [first = 0] = await data.load(at, 1)
    overwriteInto(edits, data, at, paddingType(first))
  }
  const end = at + body + size
  for (let from = at + body; from < end; ) {
    const piece = await data.load(from, Math.min(end - from, CHUNK_BYTES))
    const isLast = from + piece.length === end
    const zeros = isLast ? piece.subarray(0, -1) : piece
    if (!isZero(zeros)) for (const run of data.runs(from, zeros.length)) addZeros(edits, run)
    if (isLast && piece.at(-1) !== TRAILING_BITS)
      overwriteInto(edits, data, end - 1, Uint8Array.of(TRAILING_BITS))
    from += piece.length
  }
}

/** The first header byte of a unit, with the type changed to padding and the extension and size flags preserved. */
function paddingType(first: number): Uint8Array {
  return Uint8Array.of((first & 0x87) | (PADDING << 3))
}

/** Overwrites the data at `at` with `bytes`. */
function overwriteInto(edits: Edit[], data: RunReader, at: number, bytes: Uint8Array): void {
  let next = 0
  for (const run of data.runs(at, bytes.length)) {
    addEdit(edits, { ...run, bytes: bytes.subarray(next, next + lengthOf(run)) })
    next += lengthOf(run)
  }
}

interface RunReader {
  /** Total length. Unit: bytes. */
  readonly length: number
  /** `length` bytes from `at`, or fewer at the end. `undefined` when `load` is needed. */
  peek(at: number, length: number): Uint8Array | undefined
  load(at: number, length: number): Promise<Uint8Array>
  /** The file ranges of the bytes, all of which must exist. */
  runs(at: number, length: number): Run[]
}

/** Reads ranges of a file as if they were contiguous. */
function readerOf(cursor: Cursor, runs: Run[]): RunReader {
  const total = runs.reduce((sum, run) => sum + lengthOf(run), 0)
  let index = 0
  let before = 0

  /** The file offset of a byte, and the number of bytes from there to the end of its range. */
  function locate(at: number): { start: number; left: number } {
    // Reading ahead may have advanced to a later range.
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
      return only && pieces.length === 1 ? only : concatBytes(...pieces)
    },
  }
}

function lengthOf({ start, end }: Run): number {
  return end - start
}

/** Length of the `av1C` fields before its units (AV1 in ISOBMFF, 2.3.3). Unit: bytes. */
const CONFIG_HEADER_BYTES = 4

/** Encoders write at most one. Limited because thousands of items may share one property, and each parses its units. */
const MAX_CONFIG_UNITS = 16
/** Far larger than a sequence header. Unit: bytes. */
const MAX_CONFIG_BYTES = 64 * 1024

/**
 * The sequence header in an `av1C` property, or `null`. `fields`: of that property. Throws `Refusal('damaged-image')` when the
 * property is missing or invalid.
 */
export function configuredSequence(fields: Fields | null): SequenceHeader | null {
  if (!fields || fields.left < CONFIG_HEADER_BYTES || fields.u8() !== 0x81)
    return refuse('an image has no valid av1C property')
  fields.skip(CONFIG_HEADER_BYTES - 1)
  for (const { bytes, obu } of unitsIn(fields)) {
    if (obu?.type === SEQUENCE_HEADER) return sequenceHeader(bytes.subarray(obu.body))
  }
  return null
}

/**
 * Edits that turn every unit in `av1C` except sequence headers into padding of the same length, and clear the bytes after a
 * sequence header in its unit.
 */
export function configEdits(fields: Fields, { body, end }: Box): Edit[] {
  const edits: Edit[] = []
  for (const { at, bytes, obu } of unitsIn(fields.within(Math.min(end, body + CONFIG_HEADER_BYTES), end))) {
    if (obu?.type === SEQUENCE_HEADER) {
      const payload = bytes.subarray(obu.body)
      edits.push(...writeEdits(fields, at + obu.body, withoutTail(payload, sequenceHeader(payload))))
    } else {
      edits.push(...writeEdits(fields, at, paddingOf(bytes, obu)))
    }
  }
  return edits
}

interface ConfigUnit {
  /** Offset in the file. */
  at: number
  bytes: Uint8Array
  /** `null` when the remaining bytes are not a valid unit. */
  obu: Obu | null
}

function* unitsIn(fields: Fields): Generator<ConfigUnit> {
  if (fields.left > MAX_CONFIG_BYTES) refuse('an av1C property is too long')
  for (let count = 0; fields.left > 0; count++) {
    if (count === MAX_CONFIG_UNITS) refuse('an av1C property is too long')
    const { at, left, end } = fields
    const obu = obuFrom(fields.within(at, end).rest(), left)
    const length = obu ? obu.body + obu.size : left
    yield length > left ? { at, bytes: fields.rest(), obu: null } : { at, bytes: fields.take(length), obu }
  }
}

/** A padding unit of the same length. Invalid bytes become a unit without a size field, which extends to the end. */
function paddingOf(bytes: Uint8Array, obu: Obu | null): Uint8Array {
  const body = obu?.body ?? 1
  const padding = bytes.slice().fill(0, body)
  padding.set(paddingType(obu ? padding[0]! : 0))
  if (padding.length > body) padding[padding.length - 1] = TRAILING_BITS
  return padding
}
