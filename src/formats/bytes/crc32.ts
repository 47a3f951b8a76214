/** CRC-32 of PNG chunks (W3C PNG, annex D). A hot path: every byte of an uploaded PNG passes through it. */

const POLYNOMIAL = 0xedb88320

/** 8 rows of 256 entries. Row k: the CRC of a byte followed by k zero bytes. */
const TABLE = makeTable()

function makeTable(): Int32Array {
  const table = new Int32Array(8 * 256)
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1
    table[byte] = crc
  }
  for (let at = 256; at < table.length; at++) {
    const before = table[at - 256]!
    table[at] = (before >>> 8) ^ table[before & 0xff]!
  }
  return table
}

/** zlib's implementation, four times as fast. Not available in browsers and Workers. */
const native = globalThis.process?.getBuiltinModule?.('node:zlib')?.crc32

/** The CRC of `bytes[from..to)`. `crc`: the CRC of the preceding bytes, or 0. */
export const crc32: typeof crc32ByTable = native
  ? (bytes, from = 0, to = bytes.length, crc = 0) => native(bytes.subarray(from, to), crc)
  : crc32ByTable

/** `crc32` in JavaScript, eight bytes per step. */
export function crc32ByTable(bytes: Uint8Array, from = 0, to: number = bytes.length, crc = 0): number {
  let state = ~crc
  let at = from
  for (const last = to - 8; at <= last; at += 8) {
    state ^= bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
    state =
      TABLE[0x700 | (state & 0xff)]! ^
      TABLE[0x600 | ((state >>> 8) & 0xff)]! ^
      TABLE[0x500 | ((state >>> 16) & 0xff)]! ^
      TABLE[0x400 | (state >>> 24)]! ^
      TABLE[0x300 | bytes[at + 4]!]! ^
      TABLE[0x200 | bytes[at + 5]!]! ^
      TABLE[0x100 | bytes[at + 6]!]! ^
      TABLE[bytes[at + 7]!]!
  }
  for (; at < to; at++) state = (state >>> 8) ^ TABLE[(state ^ bytes[at]!) & 0xff]!
  return ~state >>> 0
}
