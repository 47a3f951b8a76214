/** Reads the coefficients of a JPEG with several scans: progressive (ITU-T T.81, annex G), or one scan for each component. */
import { type JpegComponent, type JpegFrame, readScan } from '../../../formats/jpeg/header.ts'
import { DHT, DRI, type JpegSegment, SOS } from '../../../formats/jpeg/segments.ts'
import { type Geometry, mcuGrid } from './coefficients.ts'
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

/** The coefficients of one component: 64 per block in zigzag order, block by block, row by row. */
export interface DensePlane {
  data: Int16Array
  /** Blocks in a row, including those that fill up the last MCU. */
  across: number
}

/** By component. `null` if the file is damaged. */
export function readDense(
  jpeg: Uint8Array,
  segments: JpegSegment[],
  image: Geometry,
  frame: JpegFrame,
): DensePlane[] | null {
  const { across, down } = mcuGrid(image)
  const planes = image.components.map(({ horizontal, vertical }) => ({
    data: new Int16Array(64 * across * horizontal * down * vertical),
    across: across * horizontal,
  }))
  const tables = new Map<number, HuffmanTable>()
  let restartInterval = 0
  for (const segment of segments) {
    const { marker, bodyAt, offset, length } = segment
    if (marker === DHT) addTables(tables, jpeg, segment)
    else if (marker === DRI) restartInterval = jpeg[bodyAt]! * 256 + jpeg[bodyAt + 1]!
    else if (marker === SOS) {
      const headerBytes = 4 + 2 * jpeg[bodyAt]!
      const header = jpeg.subarray(bodyAt, bodyAt + headerBytes)
      const scan = readScan(frame, header)
      const [end = 63, approximation = 0] = header.subarray(-2)
      const band = { start: scan.spectralStart, end, high: scan.approximationHigh, low: approximation & 15 }
      const parts = scan.components.map((component, index) => ({
        plane: planes[frame.components.indexOf(component)]!,
        component,
        dc: tables.get(scan.tables[index]!.dc),
        ac: tables.get(AC_CLASS | scan.tables[index]!.ac),
      }))
      const intervals = withoutStuffing(jpeg.subarray(bodyAt + headerBytes, offset + length))
      if (!decodeScan(parts, { image, frame, band, intervals, restartInterval })) return null
    }
  }
  return planes
}

interface Part {
  plane: DensePlane
  component: JpegComponent
  dc: HuffmanTable | undefined
  ac: HuffmanTable | undefined
}

/** Coefficients of a scan, and the bits of them. */
interface Band {
  start: number
  end: number
  high: number
  low: number
}

interface Scan {
  image: Geometry
  frame: JpegFrame
  band: Band
  intervals: Intervals
  restartInterval: number
}

/** False if the scan is damaged. */
function decodeScan(parts: Part[], { image, frame, band, intervals, restartInterval }: Scan): boolean {
  const { across, down, mcuWidth, mcuHeight } = mcuGrid(image)
  const [only] = parts
  const isSingle = parts.length === 1
  // A scan of one component has an MCU per block, and leaves out the blocks beyond the edges (A.2.2).
  const columns = isSingle ? Math.ceil((image.width * only!.component.horizontal) / mcuWidth) : across
  const rows = isSingle ? Math.ceil((image.height * only!.component.vertical) / mcuHeight) : down
  const decoder = blockDecoder(frame.coding, band, intervals)
  for (let mcu = 0; mcu < columns * rows; mcu++) {
    if (restartInterval > 0 && mcu > 0 && mcu % restartInterval === 0 && !decoder.restart()) return false
    const [column, row] = [mcu % columns, Math.floor(mcu / columns)]
    for (const [index, { plane, component, dc, ac }] of parts.entries()) {
      const [horizontal, vertical] = isSingle ? [1, 1] : [component.horizontal, component.vertical]
      for (let block = 0; block < horizontal * vertical; block++) {
        const x = column * horizontal + (block % horizontal)
        const y = row * vertical + Math.floor(block / horizontal)
        if (!decoder.decode(plane.data, 64 * (y * plane.across + x), { index, dc, ac })) return false
      }
    }
  }
  return true
}

/** Signals damage within a block. */
const NO_CODE = -1

function blockDecoder(
  coding: JpegFrame['coding'],
  { start, end, high, low }: Band,
  { bytes, starts }: Intervals,
) {
  const view = new DataView(bytes.buffer)
  const endBit = 8 * starts.at(-1)!
  const one = 1 << low
  let at = 0
  let interval = 0
  /** Blocks left in a run of blocks without more coefficients (G.1.2.2). */
  let endOfBandRun = 0
  let previousDc = [0, 0, 0]

  const peek = () => view.getUint32(at >>> 3) << (at & 7)

  function bits(count: number): number {
    if (count === 0) return 0
    const value = peek() >>> (32 - count)
    at += count
    return value
  }

  function symbol(table: HuffmanTable | undefined): number {
    if (!table) return NO_CODE
    const word = peek()
    const code = table.short[word >>> (32 - LOOKUP_BITS)] || longCode(table, word)
    at += code >> 8
    return code === 0 ? NO_CODE : code & 0xff
  }

  function decodeDc(
    data: Int16Array,
    block: number,
    index: number,
    table: HuffmanTable | undefined,
  ): boolean {
    if (high > 0) {
      data[block]! |= bits(1) << low
      return true
    }
    const size = symbol(table)
    if (size < 0 || size > 15) return false
    previousDc[index]! += size === 0 ? 0 : extended(bits(size), size)
    data[block] = previousDc[index]! << low
    return true
  }

  function decodeAc(data: Int16Array, block: number, table: HuffmanTable | undefined): boolean {
    if (endOfBandRun > 0) {
      endOfBandRun--
      return true
    }
    for (let index = Math.max(1, start); index <= end; index++) {
      const code = symbol(table)
      if (code < 0) return false
      const [run, size] = [code >> 4, code & 15]
      if (size === 0) {
        if (run < 15) {
          endOfBandRun = (1 << run) - 1 + bits(run)
          return true
        }
        index += 15
        continue
      }
      index += run
      if (index > end) return false
      data[block + index] = extended(bits(size), size) << low
    }
    return true
  }

  /** Adds a bit to a coefficient that already has some. */
  function refine(data: Int16Array, at: number): void {
    const value = data[at]!
    if (bits(1) === 1 && (value & one) === 0) data[at] = value + (value < 0 ? -one : one)
  }

  function refineAc(data: Int16Array, block: number, table: HuffmanTable | undefined): boolean {
    let index = start
    for (; index <= end && endOfBandRun === 0; index++) {
      const code = symbol(table)
      if (code < 0) return false
      const size = code & 15
      let run = code >> 4
      let added = 0
      if (size > 0) added = bits(1) === 1 ? one : -one
      else if (run < 15) {
        endOfBandRun = (1 << run) + bits(run)
        break
      }
      for (; index <= end; index++) {
        if (data[block + index] !== 0) refine(data, block + index)
        else if (run-- === 0) break
      }
      if (size > 0) {
        if (index > end) return false
        data[block + index] = added
      }
    }
    if (endOfBandRun > 0) {
      for (; index <= end; index++) if (data[block + index] !== 0) refine(data, block + index)
      endOfBandRun--
    }
    return true
  }

  return {
    /** False if the scan has too few intervals, or an interval too many bits. */
    restart(): boolean {
      const next = starts[++interval]
      if (next === undefined || at > 8 * next) return false
      at = 8 * next
      endOfBandRun = 0
      previousDc = [0, 0, 0]
      return true
    },
    /** Decodes the block at this position. False if it is damaged. */
    decode(
      data: Int16Array,
      block: number,
      { index, dc, ac }: { index: number; dc: HuffmanTable | undefined; ac: HuffmanTable | undefined },
    ): boolean {
      if (start === 0 && !decodeDc(data, block, index, dc)) return false
      if (end > 0 && !(high > 0 ? refineAc(data, block, ac) : decodeAc(data, block, ac))) return false
      // A band run belongs to progressive coding; elsewhere it ends a block.
      if (coding === 'sequential') endOfBandRun = 0
      return at <= endBit
    },
  }
}
