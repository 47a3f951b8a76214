/** Reads the quantised DCT coefficients of a JPEG (ITU-T T.81), without turning them into pixels. */
import { memorySource } from '../../../formats/image.ts'
import type { JpegFrame } from '../../../formats/jpeg/header.ts'
import { DHT, DRI, type JpegSegment, SOS } from '../../../formats/jpeg/segments.ts'
import { walkJpeg } from '../../../formats/jpeg/walk.ts'

/** One colour component of an image. */
export interface Component {
  id: number
  /** Sampling factors: blocks in an MCU, across and down. */
  horizontal: number
  vertical: number
  /** Quantisation steps, in zigzag order. */
  steps: Uint16Array
}

/** A JPEG as quantised DCT coefficients. */
export interface Coefficients {
  /** As stored. Unit: pixels. */
  width: number
  height: number
  components: Component[]
  /**
   * The nonzero coefficients, block by block in the order of an interleaved scan (A.2.3), each as value × 64 + index in zigzag
   * order. A block starts with its DC coefficient, even if that is zero.
   */
  coefficients: Int32Array
  /** Where each MCU starts in `coefficients`, and the end. */
  mcuStarts: Int32Array
}

export type Geometry = Pick<Coefficients, 'width' | 'height' | 'components'>
type Decoded = Pick<Coefficients, 'coefficients' | 'mcuStarts'>

/** The component of each block in an MCU, in the order of an interleaved scan. */
export function blocksOfMcu(components: Component[]): number[] {
  return components.flatMap(({ horizontal, vertical }, index) => Array(horizontal * vertical).fill(index))
}

/** Size of an MCU, and the number of them. Unit: pixels. */
export function mcuGrid({ width, height, components }: Geometry) {
  const mcuWidth = 8 * Math.max(...components.map(({ horizontal }) => horizontal))
  const mcuHeight = 8 * Math.max(...components.map(({ vertical }) => vertical))
  return { mcuWidth, mcuHeight, across: Math.ceil(width / mcuWidth), down: Math.ceil(height / mcuHeight) }
}

/** `null` if the file is damaged, or isn't a YCbCr image with Huffman coding and 8 bits per sample. `jpeg`: must be valid. */
export async function readCoefficients(jpeg: Uint8Array): Promise<Coefficients | null> {
  const { frame, quantisation, segments } = await walkJpeg(memorySource(jpeg))
  if (!isPlainYcc(frame, segments)) return null
  const components: Component[] = []
  for (const { id, horizontal, vertical, quantisation: table } of frame.components) {
    const steps = quantisation[table]
    if (!steps?.every((step) => step > 0 && step < 256)) return null
    components.push({ id, horizontal, vertical, steps })
  }
  const image = { width: frame.width, height: frame.height, components }
  const scans = segments.filter(({ marker }) => marker === SOS)
  const isSimple = frame.coding === 'sequential' && scans.length === 1
  const decoded = isSimple
    ? readSingleScan(jpeg, segments, image)
    : await readScans(jpeg, segments, image, frame)
  return decoded && { ...image, ...decoded }
}

/** Loaded on demand: cameras write a single scan. */
async function readScans(
  jpeg: Uint8Array,
  segments: JpegSegment[],
  image: Geometry,
  frame: JpegFrame,
): Promise<Decoded | null> {
  const { readDense } = await import('./progressive.ts')
  const planes = readDense(jpeg, segments, image, frame)
  return planes && inMcuOrder(image, planes)
}

/** Huffman coding of three components that decoders take for YCbCr. */
function isPlainYcc(
  { coding, arithmetic, precision, components, hasUniqueIds }: JpegFrame,
  segments: JpegSegment[],
): boolean {
  if (coding === 'lossless' || arithmetic || precision !== 8 || components.length !== 3 || !hasUniqueIds)
    return false
  const adobe = segments.find(({ kind }) => kind === 'adobe')?.body
  if (adobe) return adobe[11] === 1
  // Without markers, decoders take components with the IDs "RGB" for RGB.
  return segments.some(({ kind }) => kind === 'jfif') || components.every(({ id }, index) => id === index + 1)
}

function readSingleScan(jpeg: Uint8Array, segments: JpegSegment[], image: Geometry): Decoded | null {
  const tables = new Map<number, HuffmanTable>()
  let restartInterval = 0
  for (const segment of segments) {
    const { marker, bodyAt, offset, length } = segment
    if (marker === DHT) addTables(tables, jpeg, segment)
    else if (marker === DRI) restartInterval = jpeg[bodyAt]! * 256 + jpeg[bodyAt + 1]!
    else if (marker === SOS) {
      const header = jpeg.subarray(bodyAt, bodyAt + 10)
      const selected: { dc: HuffmanTable; ac: HuffmanTable }[] = []
      for (const [index, { id }] of image.components.entries()) {
        const [scanId, selectors = 0] = header.subarray(1 + 2 * index)
        const dc = tables.get(selectors >> 4)
        const ac = tables.get(AC_CLASS | (selectors & 15))
        if (scanId !== id || !dc || !ac) return null
        selected.push({ dc, ac })
      }
      const intervals = withoutStuffing(jpeg.subarray(bodyAt + 10, offset + length))
      return decodeScan(image, selected, intervals, restartInterval)
    }
  }
  return null
}

/** The coefficients of one component: 64 per block in zigzag order, block by block, row by row. */
export interface DensePlane {
  data: Int16Array
  /** Blocks in a row, including those that fill up the last MCU. */
  across: number
}

/** `null` if a coefficient is larger than 8-bit samples allow. */
function inMcuOrder(image: Geometry, planes: DensePlane[]): Decoded | null {
  const { across, down } = mcuGrid(image)
  let total = across * down * blocksOfMcu(image.components).length
  for (const { data } of planes) {
    for (let at = 0; at < data.length; at++) {
      const value = data[at]!
      if (Math.abs(value) >> MAX_DC_BITS > 0) return null
      if (value !== 0) total++
    }
  }
  const coefficients = new Int32Array(total)
  const mcuStarts = new Int32Array(across * down + 1)
  let count = 0
  for (let mcu = 0; mcu < across * down; mcu++) {
    mcuStarts[mcu] = count
    for (const [index, { horizontal, vertical }] of image.components.entries()) {
      const plane = planes[index]!
      const column = (mcu % across) * horizontal
      const row = Math.floor(mcu / across) * vertical
      for (let block = 0; block < horizontal * vertical; block++) {
        const [x, y] = [column + (block % horizontal), row + Math.floor(block / horizontal)]
        const start = 64 * (y * plane.across + x)
        for (let at = 0; at < 64; at++) {
          const value = plane.data[start + at]!
          if (value !== 0 || at === 0) coefficients[count++] = (value << 6) | at
        }
      }
    }
  }
  mcuStarts[across * down] = count
  return { coefficients: coefficients.subarray(0, count), mcuStarts }
}

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

/** Sizes of additional bits (tables F.1 and F.2, for 8-bit samples). */
const MAX_DC_BITS = 11
const MAX_AC_BITS = 10

/** `null` if the scan is damaged. */
function decodeScan(
  image: Geometry,
  tables: { dc: HuffmanTable; ac: HuffmanTable }[],
  { bytes, starts }: Intervals,
  restartInterval: number,
): Decoded | null {
  const { across, down } = mcuGrid(image)
  const mcus = across * down
  const blocks = blocksOfMcu(image.components)
  const view = new DataView(bytes.buffer)
  // An AC coefficient takes at least two bits.
  const maxCoefficients = Math.min(4 * bytes.length + mcus * blocks.length, 64 * mcus * blocks.length)
  const coefficients = new Int32Array(maxCoefficients + 64)
  const mcuStarts = new Int32Array(mcus + 1)
  const previousDc = new Int32Array(image.components.length)
  const dcTables = blocks.map((component) => tables[component]!.dc)
  const acTables = blocks.map((component) => tables[component]!.ac)
  const end = 8 * starts.at(-1)!
  let count = 0
  let at = 0
  let interval = 0
  for (let mcu = 0; mcu < mcus; mcu++) {
    if (restartInterval > 0 && mcu > 0 && mcu % restartInterval === 0) {
      const start = starts[++interval]
      if (start === undefined || at > 8 * start) return null
      at = 8 * start
      previousDc.fill(0)
    }
    mcuStarts[mcu] = count
    for (let block = 0; block < blocks.length; block++) {
      if (at > end) return null
      const dc = dcTables[block]!
      let word = view.getUint32(at >>> 3) << (at & 7)
      let code = dc.short[word >>> (32 - LOOKUP_BITS)] || longCode(dc, word)
      if (code === 0) return null
      at += code >> 8
      const size = code & 0xff
      if (size > MAX_DC_BITS) return null
      let difference = 0
      if (size > 0) {
        word = view.getUint32(at >>> 3) << (at & 7)
        difference = extended(word >>> (32 - size), size)
        at += size
      }
      const component = blocks[block]!
      const value = previousDc[component]! + difference
      if (value >= 1 << MAX_DC_BITS || value <= -(1 << MAX_DC_BITS)) return null
      previousDc[component] = value
      coefficients[count++] = value << 6

      const { short, values } = acTables[block]!
      for (let index = 1; index < 64; index++) {
        word = view.getUint32(at >>> 3) << (at & 7)
        const known = values[word >>> (32 - LOOKUP_BITS)]!
        if (known !== 0) {
          at += known & 0xff
          index += (known >> 8) & 15
          if (index > 63) return null
          coefficients[count++] = ((known >> 16) << 6) | index
          continue
        }
        code = short[word >>> (32 - LOOKUP_BITS)] || longCode(acTables[block]!, word)
        if (code === 0) return null
        at += code >> 8
        const bits = code & 15
        const run = (code >> 4) & 15
        if (bits === 0) {
          if (run < 15) break
          index += 15
          continue
        }
        index += run
        if (index > 63 || bits > MAX_AC_BITS) return null
        word = view.getUint32(at >>> 3) << (at & 7)
        coefficients[count++] = (extended(word >>> (32 - bits), bits) << 6) | index
        at += bits
      }
    }
  }
  mcuStarts[mcus] = count
  return at > end ? null : { coefficients: coefficients.subarray(0, count), mcuStarts }
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
