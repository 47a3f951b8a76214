/** Bytes of boxes that no reader looks at: reserved fields, names for people, and what follows the last field. */
import { ascii, latin1 } from '../bytes/text.ts'
import type { Edit } from './edits.ts'
import { type Box, type Fields, isZero } from './fields.ts'

/** Zeros from `start` to `end`, unless there is nothing else already. */
export function zeroed(fields: Fields, start: number, end: number): Edit[] {
  return end <= start || isZero(fields.within(start, end).rest()) ? [] : [{ start, end }]
}

/** `bytes` at `start`, unless they are there already. */
export function written(fields: Fields, start: number, bytes: Uint8Array): Edit[] {
  const end = start + bytes.length
  const present = fields.within(start, end).rest()
  return bytes.every((byte, index) => byte === present[index]) ? [] : [{ start, end, bytes }]
}

/** Names that encoders give every image and every track. Others may have been typed by people. */
const ENCODERS_NAMES: ReadonlySet<string> = new Set(['', 'Color', 'Alpha', 'GMap', 'libavif', 'PICT'])

/** A name in UTF-8 and what stands behind it, up to `end`. */
export function unnamed(fields: Fields, start: number, end: number): Edit[] {
  const name = fields.within(start, end).text()
  return zeroed(fields, ENCODERS_NAMES.has(name) ? Math.min(end, start + name.length) : start, end)
}

/** `hdlr` (14496-12, 8.4.3): what it handles stays. */
export function handlerEdits(fields: Fields, { body, end }: Box): Edit[] {
  const name = Math.min(end, body + 24)
  return [
    ...zeroed(fields, body + 4, body + 8),
    ...zeroed(fields, body + 12, name),
    ...unnamed(fields, name, end),
  ]
}

/** A `dref` that names this file and no other (14496-12, 8.7.2). */
const OWN_FILE = ascii('\0\0\0\x1cdref\0\0\0\0\0\0\0\x01\0\0\0\x0curl \0\0\0\x01')

/** `dinf`: other files have names, too. `null` if it is too short to be one. */
export function dataReferenceEdits(fields: Fields, { body, end }: Box): Edit[] | null {
  const rest = body + OWN_FILE.length
  if (rest > end) return null
  const left = end - rest
  // What is left must be a box, or less than one.
  const filler = left < 8 ? new Uint8Array(left) : freeBox(left)
  return [...written(fields, body, OWN_FILE), ...written(fields, rest, filler)]
}

function freeBox(length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  new DataView(bytes.buffer).setUint32(0, length)
  bytes.set(ascii('free'), 4)
  return bytes
}

/** Length of the body of boxes with fields of a fixed length: properties, and boxes of sample entries. Unit: bytes. */
const BODY_BYTES: Record<string, (fields: Fields) => number> = {
  ispe: () => 12,
  pixi: (fields) => 5 + countAt(fields, 4),
  pasp: () => 8,
  clap: () => 32,
  irot: () => 1,
  imir: () => 1,
  rloc: () => 12,
  a1op: () => 1,
  a1lx: (fields) => 1 + (countAt(fields, 0) & 1 ? 12 : 6),
  lsel: () => 2,
  iscl: () => 12,
  clli: () => 4,
  mdcv: () => 24,
  cclv: (fields) => 1 + cclvBytes(countAt(fields, 0)),
  amve: () => 8,
  reve: () => 16,
  ndwt: () => 8,
  btrt: () => 12,
  ccst: () => 8,
  fiel: () => 2,
  CoLL: () => 8,
  SmDm: () => 28,
  auxC: (fields) => 4 + textBytes(fields, 4),
  auxi: (fields) => 4 + textBytes(fields, 4),
  colr: colourBytes,
}

/** What stands behind the last field of a box. */
export function tailEdits(fields: Fields, box: Box): Edit[] {
  const bytes = Object.hasOwn(BODY_BYTES, box.type) ? BODY_BYTES[box.type]?.(fields.bodyOf(box)) : undefined
  return bytes === undefined ? [] : zeroed(fields, Math.min(box.end, box.body + bytes), box.end)
}

function countAt(fields: Fields, skipped: number): number {
  if (fields.left <= skipped) return 0
  fields.skip(skipped)
  return fields.u8()
}

/** Length of a text with its zero byte. */
function textBytes(fields: Fields, skipped: number): number {
  fields.skip(Math.min(skipped, fields.left))
  const start = fields.at
  fields.text()
  return fields.at - start
}

/** Content colour volume (23008-12, 6.5.x; H.265, D.2.40): primaries, and three luminances, each if its flag is set. */
function cclvBytes(flags: number): number {
  return (flags & 0x20 ? 24 : 0) + (flags & 0x10 ? 4 : 0) + (flags & 0x08 ? 4 : 0) + (flags & 0x04 ? 4 : 0)
}

/** 14496-12, 12.1.5. A profile says its length itself. */
function colourBytes(fields: Fields): number {
  if (fields.left < 8) return 0
  const kind = latin1(fields.take(4))
  if (kind === 'nclx') return 11
  return kind === 'rICC' || kind === 'prof' ? 4 + fields.u32() : 4
}
