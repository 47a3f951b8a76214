/** Reads the coefficients of a JPEG with several scans: progressive (ITU-T T.81, annex G), or one scan for each component. */
import type { JpegScan } from '../../../formats/jpeg/header.ts'
import { type Blocks, blocksOfMcu, type Geometry, MAX_DC_BITS, mcuGrid } from './coefficients.ts'
import { extended, type HuffmanTable, type Intervals, LOOKUP_BITS, longCode } from './huffman.ts'
import type { Scan } from './scans.ts'

/** The coefficients of one component: 64 per block in zigzag order, block by block, row by row. */
interface DensePlane {
  data: Int16Array
  /** Blocks in a row, including those that fill up the last MCU. */
  across: number
}

/** `null` if the file is damaged. */
export function readProgressive(
  image: Geometry,
  scans: Iterable<Scan>,
  isProgressive: boolean,
): Blocks | null {
  const { across, down } = mcuGrid(image)
  const planes = image.components.map(({ horizontal, vertical }) => ({
    data: new Int16Array(64 * across * horizontal * down * vertical),
    across: across * horizontal,
  }))
  for (const scan of scans) {
    if (!decodeScan(image, planes, scan, isProgressive)) return null
  }
  return inMcuOrder(image, planes)
}

/** False if the scan is damaged. */
function decodeScan(image: Geometry, planes: DensePlane[], scan: Scan, isProgressive: boolean): boolean {
  const { header, dc, ac, intervals, restartInterval } = scan
  const { across, down, mcuWidth, mcuHeight } = mcuGrid(image)
  const parts = header.components.map((component, index) => ({
    plane: planes[image.components.findIndex(({ id }) => id === component.id)]!,
    component,
    dc: dc[index],
    ac: ac[index],
  }))
  const [only] = parts
  const isSingle = parts.length === 1
  // A scan of one component has an MCU per block, and leaves out the blocks beyond the edges (A.2.2).
  const columns = isSingle ? Math.ceil((image.width * only!.component.horizontal) / mcuWidth) : across
  const rows = isSingle ? Math.ceil((image.height * only!.component.vertical) / mcuHeight) : down
  const decoder = blockDecoder(isProgressive ? bandOf(header) : WHOLE, intervals, isProgressive)
  for (let mcu = 0; mcu < columns * rows; mcu++) {
    if (restartInterval > 0 && mcu > 0 && mcu % restartInterval === 0 && !decoder.restart()) return false
    const [column, row] = [mcu % columns, Math.floor(mcu / columns)]
    for (const [index, { plane, component, ...tables }] of parts.entries()) {
      const [horizontal, vertical] = isSingle ? [1, 1] : [component.horizontal, component.vertical]
      for (let block = 0; block < horizontal * vertical; block++) {
        const x = column * horizontal + (block % horizontal)
        const y = row * vertical + Math.floor(block / horizontal)
        if (!decoder.decode(plane.data, 64 * (y * plane.across + x), { index, ...tables })) return false
      }
    }
  }
  return true
}

/** Coefficients of a scan, and the bits of them. */
interface Band {
  start: number
  end: number
  high: number
  low: number
}

/** Sequential scans code whole coefficients; decoders ignore what their headers say. */
const WHOLE: Band = { start: 0, end: 63, high: 0, low: 0 }

function bandOf({ spectralStart, spectralEnd, approximationHigh, approximationLow }: JpegScan): Band {
  return { start: spectralStart, end: spectralEnd, high: approximationHigh, low: approximationLow }
}

/** `null` if a coefficient is larger than 8-bit samples allow. */
function inMcuOrder(image: Geometry, planes: DensePlane[]): Blocks | null {
  const { across, down } = mcuGrid(image)
  const blocks = across * down * blocksOfMcu(image.components).length
  let total = blocks
  for (const { data } of planes) {
    for (let at = 0; at < data.length; at++) {
      const value = data[at]!
      if (Math.abs(value) >> MAX_DC_BITS > 0) return null
      if (value !== 0) total++
    }
  }
  const coefficients = new Int32Array(total)
  const blockStarts = new Int32Array(blocks + 1)
  let block = 0
  let count = 0
  for (let mcu = 0; mcu < across * down; mcu++) {
    for (const [index, { horizontal, vertical }] of image.components.entries()) {
      const plane = planes[index]!
      const column = (mcu % across) * horizontal
      const row = Math.floor(mcu / across) * vertical
      for (let number = 0; number < horizontal * vertical; number++) {
        const [x, y] = [column + (number % horizontal), row + Math.floor(number / horizontal)]
        const start = 64 * (y * plane.across + x)
        blockStarts[block++] = count
        for (let at = 0; at < 64; at++) {
          const value = plane.data[start + at]!
          if (value !== 0 || at === 0) coefficients[count++] = (value << 6) | at
        }
      }
    }
  }
  blockStarts[block] = count
  return { coefficients: coefficients.subarray(0, count), blockStarts }
}

/** Signals damage within a block. */
const NO_CODE = -1

function blockDecoder({ start, end, high, low }: Band, { bytes, starts }: Intervals, isProgressive: boolean) {
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
          if (isProgressive) endOfBandRun = (1 << run) - 1 + bits(run)
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
      return at <= endBit
    },
  }
}
