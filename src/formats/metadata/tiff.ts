/** A bounds-checked reader of TIFF structures (TIFF 6.0, section 2): Exif and MPF are made of them. */

export interface Tiff {
  readonly bytes: Uint8Array
  readonly firstIfd: number
  u16(at: number): number
  u32(at: number): number
}

export interface IfdEntry {
  readonly tag: number
  readonly type: number
  readonly count: number
  /** Where the value starts; all of it lies inside the bytes. */
  readonly at: number
  /** Unit: bytes. */
  readonly size: number
}

export const SHORT = 3
export const LONG = 4
export const RATIONAL = 5
export const UNDEFINED = 7
export const SRATIONAL = 10

/** Bytes per value, by type. 0: no such type. */
const TYPE_SIZES = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8]

const HEADER_BYTES = 8
const ENTRY_BYTES = 12

/** `null` if it is no TIFF structure. */
export function openTiff(bytes: Uint8Array): Tiff | null {
  if (bytes.length < HEADER_BYTES) return null
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const order = view.getUint16(0)
  if (order !== 0x4949 && order !== 0x4d4d) return null
  const little = order === 0x4949
  if (view.getUint16(2, little) !== 42) return null
  return tiffOf(bytes, little, view.getUint32(4, little))
}

/** A structure whose header is known. */
export function tiffOf(bytes: Uint8Array, little: boolean, firstIfd: number): Tiff {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  return {
    bytes,
    firstIfd,
    u16: (at) => view.getUint16(at, little),
    u32: (at) => view.getUint32(at, little),
  }
}

/** The entries at `at` whose values lie inside the bytes, by tag. The first of a repeated tag counts. */
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
    entries.set(tag, { tag, type, count: valueCount, at: valueAt, size })
  }
  return entries
}
