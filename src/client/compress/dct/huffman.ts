/** Huffman codes and additional bits of a JPEG's entropy-coded data (ITU-T T.81, annexes C and F). */
import type { JpegSegment } from '../../../formats/jpeg/segments.ts'

/** Codes of up to this many bits are looked up directly. */
export const LOOKUP_BITS = 10

export interface HuffmanTable {
  /** By the next `LOOKUP_BITS` bits: code length × 256 + symbol, or 0 for a longer code. */
  short: Uint16Array
  /**
   * By the next `LOOKUP_BITS` bits, if they hold an AC code and its value: value × 65536 + run × 256 + number of bits. Else 0.
   */
  values: Int32Array
  /** For longer codes, by length: the first code, their number, and the index of the first one's symbol. */
  first: Int32Array
  counts: Uint8Array
  offsets: Int32Array
  symbols: Uint8Array
}

/** Class of AC tables in a selector: class × 16 + index. */
export const AC_CLASS = 0x10

/** Adds the definitions of a DHT segment, by selector. */
export function addTables(
  known: Map<number, HuffmanTable>,
  jpeg: Uint8Array,
  { bodyAt, tables = [] }: JpegSegment,
): void {
  for (const { at, length } of tables) {
    const definition = jpeg.subarray(bodyAt + at, bodyAt + at + length)
    known.set(definition[0]!, huffmanTableOf(definition))
  }
}

/** `definition`: the selector, the numbers of codes by length, and their symbols (B.2.4.2). */
function huffmanTableOf(definition: Uint8Array): HuffmanTable {
  const counts = definition.subarray(0, 17)
  const symbols = definition.subarray(17)
  const table: HuffmanTable = {
    short: new Uint16Array(1 << LOOKUP_BITS),
    values: new Int32Array(1 << LOOKUP_BITS),
    first: new Int32Array(17),
    counts,
    offsets: new Int32Array(17),
    symbols,
  }
  let code = 0
  let index = 0
  for (let length = 1; length <= 16; length++) {
    table.first[length] = code
    table.offsets[length] = index
    for (let i = 0; i < counts[length]!; i++, code++, index++) {
      if (length <= LOOKUP_BITS) addShortCode(table, code, length, symbols[index]!)
    }
    code <<= 1
  }
  return table
}

function addShortCode({ short, values }: HuffmanTable, code: number, length: number, symbol: number): void {
  const spare = LOOKUP_BITS - length
  const size = symbol & 15
  for (let rest = 0; rest < 1 << spare; rest++) {
    const at = (code << spare) | rest
    short[at] = (length << 8) | symbol
    if (size > 0 && size <= spare)
      values[at] = (extended(rest >> (spare - size), size) << 16) | ((symbol >> 4) << 8) | (length + size)
  }
}

/** The value of `size` additional bits (F.2.2.1, EXTEND). */
export function extended(bits: number, size: number): number {
  const half = 1 << (size - 1)
  // Without a branch, which can't be predicted.
  return bits + (((bits - half) >> 31) & (1 - 2 * half))
}

export interface Intervals {
  /** The coded bits, without stuffed bytes and markers, and some zeros after the end. */
  bytes: Uint8Array
  /** Where each restart interval starts, and the end. Unit: bytes. */
  starts: number[]
}

/** A block has at most 64 codes of 16 bits with 16 more. */
const MAX_BLOCK_BYTES = 256

export function withoutStuffing(coded: Uint8Array): Intervals {
  const bytes = new Uint8Array(coded.length + MAX_BLOCK_BYTES)
  const starts = [0]
  let to = 0
  for (let from = 0; from < coded.length; ) {
    const found = coded.indexOf(0xff, from)
    const end = found < 0 ? coded.length : found
    bytes.set(coded.subarray(from, end), to)
    to += end - from
    if (found < 0) break
    const next = coded[end + 1]
    if (next === 0) bytes[to++] = 0xff
    else if (next !== undefined && next >= 0xd0 && next <= 0xd7) starts.push(to)
    // A fill byte is followed by another 0xff, which is looked at next.
    from = next === 0xff ? end + 1 : end + 2
  }
  starts.push(to)
  return { bytes, starts }
}

/** Code length × 256 + symbol of a code that is longer than `LOOKUP_BITS`. 0 if there is no such code. */
export function longCode({ first, counts, offsets, symbols }: HuffmanTable, word: number): number {
  for (let length = LOOKUP_BITS + 1; length <= 16; length++) {
    const position = (word >>> (32 - length)) - first[length]!
    if (position >= 0 && position < counts[length]!)
      return (length << 8) | symbols[offsets[length]! + position]!
  }
  return 0
}
