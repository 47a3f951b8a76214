/** Bounds-checked reading and writing of TIFF structures (TIFF 6.0, section 2), as used in Exif, maker notes and MPF. */
import { be32, concatBytes } from '../../bytes.ts'

export interface Tiff {
  readonly bytes: Uint8Array
  readonly firstIfd: number
  u16(at: number): number
  u32(at: number): number
}

export interface IfdEntry {
  readonly type: number
  readonly count: number
  /** Offset of the value, which lies entirely inside the bytes. */
  readonly at: number
  /** Unit: bytes. */
  readonly size: number
}

export const ASCII = 2
export const SHORT = 3
export const LONG = 4
export const RATIONAL = 5
export const UNDEFINED = 7
export const SRATIONAL = 10

/** Bytes per value, by type. 0: unknown type. */
const TYPE_SIZES = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8]

const HEADER_BYTES = 8
const ENTRY_BYTES = 12

/** `null` when `bytes` is not a TIFF structure. */
export function openTiff(bytes: Uint8Array): Tiff | null {
  if (bytes.length < HEADER_BYTES) return null
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const order = view.getUint16(0)
  if (order !== 0x4949 && order !== 0x4d4d) return null
  const little = order === 0x4949
  if (view.getUint16(2, little) !== 42) return null
  return tiffOf(bytes, little, view.getUint32(4, little))
}

/** A structure with known byte order and first directory, e.g. one without a TIFF header of its own. */
export function tiffOf(bytes: Uint8Array, little: boolean, firstIfd: number): Tiff {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  return {
    bytes,
    firstIfd,
    u16: (at) => view.getUint16(at, little),
    u32: (at) => view.getUint32(at, little),
  }
}

/** The directory at `at`, by tag. Ignores entries whose value lies outside the bytes, and repetitions of a tag. */
export function readIfd(tiff: Tiff, at: number): Map<number, IfdEntry> {
  const entries = new Map<number, IfdEntry>()
  const { length } = tiff.bytes
  if (at < HEADER_BYTES || at + 2 > length) return entries
  const count = tiff.u16(at)
  for (let index = 0; index < count; index++) {
    const entryAt = at + 2 + index * ENTRY_BYTES
    if (entryAt + ENTRY_BYTES > length) break
    const tag = tiff.u16(entryAt)
    const type = tiff.u16(entryAt + 2)
    const valueCount = tiff.u32(entryAt + 4)
    const size = (TYPE_SIZES[type] ?? 0) * valueCount
    if (size === 0) continue
    const valueAt = size <= 4 ? entryAt + 8 : tiff.u32(entryAt + 8)
    if (valueAt + size > length || entries.has(tag)) continue
    entries.set(tag, { type, count: valueCount, at: valueAt, size })
  }
  return entries
}

export interface Rational {
  numerator: number
  denominator: number
}

export function rationalAt({ u32 }: Tiff, at: number): Rational {
  return { numerator: u32(at), denominator: u32(at + 4) }
}

export function rationalBytes({ numerator, denominator }: Rational): Uint8Array {
  return concatBytes(be32(numerator), be32(denominator))
}

/** Big-endian; the first directory follows immediately. */
export const TIFF_HEADER = Uint8Array.of(0x4d, 0x4d, 0, 42, 0, 0, 0, HEADER_BYTES)

export interface IfdField {
  tag: number
  type: number
  /** One number, or the bytes of any other value. More than four bytes are stored after the directory. */
  value: number | Uint8Array
}

/** Encodes a directory for offset `at`, followed by its values. */
export function ifdOf(at: number, fields: IfdField[]): Uint8Array<ArrayBuffer> {
  const directory = new Uint8Array(2 + ENTRY_BYTES * fields.length + 4)
  const view = new DataView(directory.buffer)
  const values: Uint8Array[] = []
  let valueAt = at + directory.length
  view.setUint16(0, fields.length)
  for (const [index, { tag, type, value }] of fields.entries()) {
    const entryAt = 2 + ENTRY_BYTES * index
    view.setUint16(entryAt, tag)
    view.setUint16(entryAt + 2, type)
    view.setUint32(entryAt + 4, typeof value === 'number' ? 1 : value.length / TYPE_SIZES[type]!)
    if (typeof value === 'number') {
      if (type === SHORT) view.setUint16(entryAt + 8, value)
      else view.setUint32(entryAt + 8, value)
    } else if (value.length <= 4) {
      directory.set(value, entryAt + 8)
    } else {
      view.setUint32(entryAt + 8, valueAt)
      values.push(value)
      valueAt += value.length
    }
  }
  return concatBytes(directory, ...values)
}
