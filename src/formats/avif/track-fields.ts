/** What a track needs of the boxes that it keeps (ISO/IEC 14496-12, 8): times, reserved fields and names are zeroed. */
import type { Edit } from '../bmff/edits.ts'
import type { Box, Fields } from '../bmff/fields.ts'
import { dataReferenceEdits, handlerEdits, tailEdits, written, zeroed } from '../bmff/spare.ts'

/** Length of a table: version and flags, a count, entries. `wide`: in version 1. Unit: bytes. */
const TABLES: Record<string, { entry: number; wide?: number }> = {
  elst: { entry: 12, wide: 20 },
  stts: { entry: 8 },
  ctts: { entry: 8 },
  stsc: { entry: 12 },
  stco: { entry: 4 },
  co64: { entry: 8 },
  stss: { entry: 4 },
}

/** What goes of one box. Not of its children. */
export function fieldEdits(fields: Fields, box: Box): Edit[] {
  const table = Object.hasOwn(TABLES, box.type) ? TABLES[box.type] : undefined
  if (table) return tableEdits(fields, box, table)
  switch (box.type) {
    case 'mvhd':
      return movieHeader(fields, box)
    case 'tkhd':
      return trackHeader(fields, box)
    case 'mdhd':
      return dated(fields, box, 24, 36)
    case 'hdlr':
      return handlerEdits(fields, box)
    case 'vmhd':
    case 'nmhd':
      return zeroed(fields, Math.min(box.end, box.body + 4), box.end)
    case 'cslg':
      return zeroed(fields, after(box, isWide(fields, box) ? 44 : 24), box.end)
    case 'stsz':
    case 'stz2':
      return sizeEdits(fields, box)
    case 'dinf':
      return dataReferenceEdits(fields, box) ?? zeroed(fields, box.body, box.end)
    case 'av01':
      return sampleEntry(fields, box)
    default:
      return tailEdits(fields, box)
  }
}

/** So far into the body, or its end. */
function after({ body, end }: Box, bytes: number): number {
  return Math.min(end, body + bytes)
}

function isWide(fields: Fields, box: Box): boolean {
  return fields.bodyOf(box).versionAndFlags().version === 1
}

function tableEdits(
  fields: Fields,
  box: Box,
  { entry, wide = entry }: { entry: number; wide?: number },
): Edit[] {
  const body = fields.bodyOf(box)
  const { version } = body.versionAndFlags()
  return zeroed(fields, after(box, 8 + body.u32() * (version === 1 ? wide : entry)), box.end)
}

function sizeEdits(fields: Fields, box: Box): Edit[] {
  const body = fields.bodyOf(box)
  body.skip(4)
  const [size, count] = [body.u32(), body.u32()]
  if (box.type === 'stsz') return zeroed(fields, after(box, 12 + (size === 0 ? 4 * count : 0)), box.end)
  return zeroed(fields, after(box, 12 + Math.ceil((count * (size & 0xff)) / 8)), box.end)
}

/** Zeros creation and modification time (8.2.2), which then are unknown, and what stands behind the last field. */
function dated(fields: Fields, box: Box, length: number, wideLength: number): Edit[] {
  const wide = isWide(fields, box)
  const times = zeroed(fields, box.body + 4, box.body + 4 + (wide ? 16 : 8))
  return [...times, ...zeroed(fields, after(box, wide ? wideLength : length), box.end)]
}

const ONE = 0x10000

function movieHeader(fields: Fields, box: Box): Edit[] {
  const rateAt = box.body + (isWide(fields, box) ? 32 : 20)
  return [
    ...dated(fields, box, 100, 112),
    ...zeroed(fields, rateAt + 6, rateAt + 16),
    ...written(fields, rateAt + 16, matrixOf([ONE, 0, 0, ONE])),
    ...zeroed(fields, rateAt + 52, rateAt + 76),
  ]
}

function trackHeader(fields: Fields, box: Box): Edit[] {
  const wide = isWide(fields, box)
  const restAt = box.body + (wide ? 36 : 24)
  const idEnd = box.body + (wide ? 24 : 16)
  return [
    ...dated(fields, box, 84, 96),
    ...zeroed(fields, idEnd, idEnd + 4),
    // Reserved, layer, group and volume.
    ...zeroed(fields, restAt, restAt + 16),
    ...written(fields, restAt + 16, keptMatrix(fields.within(restAt + 16, restAt + 52))),
  ]
}

/** Quarter turns and mirrors stay; whatever else stands there no viewer of image sequences applies. */
function keptMatrix(fields: Fields): Uint8Array {
  const [a = 0, b = 0, , c = 0, d = 0] = Array.from({ length: 9 }, () => fields.u32() | 0)
  const isUnit = (value: number) => Math.abs(value) === ONE
  const isTurn =
    (isUnit(a) && isUnit(d) && b === 0 && c === 0) || (isUnit(b) && isUnit(c) && a === 0 && d === 0)
  return matrixOf(isTurn ? [a, b, c, d] : [ONE, 0, 0, ONE])
}

function matrixOf([a, b, c, d]: [a: number, b: number, c: number, d: number]): Uint8Array {
  const bytes = new Uint8Array(36)
  const view = new DataView(bytes.buffer)
  for (const [index, value] of [a, b, 0, c, d, 0, 0, 0, 0x40000000].entries()) view.setInt32(4 * index, value)
  return bytes
}

/** 72 dots an inch, as every writer says (12.1.3). */
const RESOLUTION = Uint8Array.of(0, 0x48, 0, 0, 0, 0x48, 0, 0)

/** What writers of AV1 call themselves, after the length of the text. */
const COMPRESSOR = '\nAOM Coding'

/** `av01` (12.1.3.2): reserved fields, and the name of the program. */
function sampleEntry(fields: Fields, { start }: Box): Edit[] {
  const nameAt = start + 50
  const name = fields.within(nameAt, nameAt + 32).text()
  return [
    ...zeroed(fields, start + 8, start + 14),
    ...zeroed(fields, start + 16, start + 32),
    ...written(fields, start + 36, RESOLUTION),
    ...zeroed(fields, start + 44, start + 48),
    ...zeroed(fields, name === COMPRESSOR ? nameAt + name.length : nameAt, nameAt + 32),
  ]
}
