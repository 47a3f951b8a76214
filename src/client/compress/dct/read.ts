/** Reads the coefficients of a JPEG (ITU-T T.81), without turning them into pixels. */
import type { JpegFrame } from '../../../formats/jpeg/header.ts'
import { type JpegSegment, SOS } from '../../../formats/jpeg/segments.ts'
import type { Jpeg } from '../../../formats/jpeg/walk.ts'
import {
  BATCH,
  type Blocks,
  blocksOfMcu,
  type Coefficients,
  type Component,
  type Geometry,
  MAX_DC_BITS,
  mcuGrid,
} from './coefficients.ts'
import { extended, type HuffmanTable, LOOKUP_BITS, longCode } from './huffman.ts'
import { type Scan, scansOf } from './scans.ts'

/**
 * `null` if the file is damaged, or isn't a YCbCr image with Huffman coding and 8 bits per sample. `jpeg`: must be valid.
 * `walked`: the result of `walkJpeg` for it.
 */
export async function readCoefficients(jpeg: Uint8Array, walked: Jpeg): Promise<Coefficients | null> {
  const { frame, quantisation, segments } = walked
  if (!isPlainYcc(frame, segments)) return null
  const components: Component[] = []
  for (const component of frame.components) {
    const { id, horizontal, vertical } = component
    const steps = quantisation.get(component)
    if (!steps?.every((step) => step > 0 && step < 256)) return null
    components.push({ id, horizontal, vertical, steps })
  }
  const image = { width: frame.width, height: frame.height, components }
  const scans = scansOf(jpeg, walked)
  const blocks = hasSingleScan(walked)
    ? readScan(image, scans.next().value!)
    : await readScans(image, scans, frame.coding === 'progressive')
  return blocks && { ...image, ...blocks }
}

/** As cameras write. */
function hasSingleScan({ frame, segments }: Jpeg): boolean {
  return frame.coding === 'sequential' && segments.filter(({ marker }) => marker === SOS).length === 1
}

async function readScans(
  image: Geometry,
  scans: Iterable<Scan>,
  isProgressive: boolean,
): Promise<Blocks | null> {
  const { readProgressive } = await import('./progressive.ts')
  return readProgressive(image, scans, isProgressive)
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

/** Maximum size of an AC coefficient (table F.2, for 8-bit samples). Unit: bits. */
const MAX_AC_BITS = 10

/** `null` if the scan is damaged, or does not code the components in the order of the frame. */
function readScan(image: Geometry, { header, dc, ac, intervals, restartInterval }: Scan): Blocks | null {
  const { bytes, starts } = intervals
  if (!header.components.every(({ id }, index) => id === image.components[index]!.id)) return null
  if (!dc.every((table) => table !== undefined) || !ac.every((table) => table !== undefined)) return null
  const { across, down } = mcuGrid(image)
  const mcus = across * down
  const components = blocksOfMcu(image.components)
  const total = mcus * components.length
  const reader: Reader = {
    bits: new DataView(bytes.buffer),
    endBit: 8 * starts.at(-1)!,
    components,
    dcTables: components.map((component) => dc[component]!),
    acTables: components.map((component) => ac[component]!),
    coefficients: new Int32Array(Math.min(USUAL_COEFFICIENTS_PER_BYTE * bytes.length, 64 * total)),
    blockStarts: new Int32Array(total + 1),
    previousDc: new Int32Array(image.components.length),
    at: 0,
    block: 0,
    count: 0,
  }
  let interval = 0
  for (let mcu = 0; mcu < mcus; ) {
    const sinceRestart = restartInterval > 0 ? mcu % restartInterval : mcu
    if (mcu > 0 && sinceRestart === 0) {
      const start = starts[++interval]
      if (start === undefined || reader.at > 8 * start) return null
      reader.at = 8 * start
      reader.previousDc.fill(0)
    }
    const untilRestart = restartInterval > 0 ? restartInterval - sinceRestart : mcus
    const run = Math.min(BATCH, untilRestart, mcus - mcu)
    makeRoom(reader, 64 * run * components.length)
    if (!readMcus(reader, run)) return null
    mcu += run
  }
  const { coefficients, blockStarts, count, at } = reader
  blockStarts[total] = count
  return at > reader.endBit ? null : { coefficients: coefficients.subarray(0, count), blockStarts }
}

/** In photographs. */
const USUAL_COEFFICIENTS_PER_BYTE = 2

function makeRoom(reader: Reader, more: number): void {
  const { coefficients, count } = reader
  if (count + more <= coefficients.length) return
  reader.coefficients = new Int32Array(2 * coefficients.length + more)
  reader.coefficients.set(coefficients)
}

interface Reader {
  bits: DataView
  endBit: number
  /** By block of an MCU. */
  components: number[]
  dcTables: HuffmanTable[]
  acTables: HuffmanTable[]
  coefficients: Int32Array
  blockStarts: Int32Array
  /** By component. */
  previousDc: Int32Array
  /** Unit: bits. */
  at: number
  /** Blocks and coefficients read so far. */
  block: number
  count: number
}

/** Reads some MCUs. False if they are damaged. */
function readMcus(reader: Reader, mcus: number): boolean {
  const { bits: view, endBit, components, dcTables, acTables, coefficients, blockStarts, previousDc } = reader
  let { at, block, count } = reader
  for (let mcu = 0; mcu < mcus; mcu++) {
    for (let number = 0; number < components.length; number++) {
      if (at > endBit) return false
      blockStarts[block++] = count
      const dcTable = dcTables[number]!
      let word = view.getUint32(at >>> 3) << (at & 7)
      let code = dcTable.short[word >>> (32 - LOOKUP_BITS)] || longCode(dcTable, word)
      if (code === 0) return false
      at += code >> 8
      const size = code & 0xff
      if (size > MAX_DC_BITS) return false
      let difference = 0
      if (size > 0) {
        word = view.getUint32(at >>> 3) << (at & 7)
        difference = extended(word >>> (32 - size), size)
        at += size
      }
      const component = components[number]!
      const value = previousDc[component]! + difference
      if (value >= 1 << MAX_DC_BITS || value <= -(1 << MAX_DC_BITS)) return false
      previousDc[component] = value
      coefficients[count++] = value << 6

      const acTable = acTables[number]!
      const { short, values } = acTable
      for (let index = 1; index < 64; index++) {
        word = view.getUint32(at >>> 3) << (at & 7)
        const known = values[word >>> (32 - LOOKUP_BITS)]!
        if (known !== 0) {
          at += known & 0xff
          index += (known >> 8) & 15
          if (index > 63) return false
          coefficients[count++] = ((known >> 16) << 6) | index
          continue
        }
        code = short[word >>> (32 - LOOKUP_BITS)] || longCode(acTable, word)
        if (code === 0) return false
        at += code >> 8
        const bits = code & 15
        const run = (code >> 4) & 15
        if (bits === 0) {
          if (run < 15) break
          index += 15
          continue
        }
        index += run
        if (index > 63 || bits > MAX_AC_BITS) return false
        word = view.getUint32(at >>> 3) << (at & 7)
        coefficients[count++] = (extended(word >>> (32 - bits), bits) << 6) | index
        at += bits
      }
    }
  }
  reader.at = at
  reader.block = block
  reader.count = count
  return true
}
