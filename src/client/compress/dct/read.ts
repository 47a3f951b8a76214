/** Reads the coefficients of a JPEG (ITU-T T.81), without turning them into pixels. */
import { memorySource } from '../../../formats/image.ts'
import type { JpegFrame } from '../../../formats/jpeg/header.ts'
import { DHT, DRI, type JpegSegment, SOS } from '../../../formats/jpeg/segments.ts'
import { walkJpeg } from '../../../formats/jpeg/walk.ts'
import { blocksOfMcu, type Coefficients, type Component, type Geometry, mcuGrid } from './coefficients.ts'
import {
  AC_CLASS,
  addTables,
  extended,
  type HuffmanTable,
  type Intervals,
  LOOKUP_BITS,
  longCode,
  withoutStuffing,
} from './huffman.ts'
import type { DensePlane } from './progressive.ts'

type Decoded = Pick<Coefficients, 'coefficients' | 'mcuStarts'>

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
