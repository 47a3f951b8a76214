/** Reads the coefficients of a JPEG (ITU-T T.81), without turning them into pixels. */
import type { JpegFrame } from '../../../formats/jpeg/header.ts'
import { type JpegSegment, SOS } from '../../../formats/jpeg/segments.ts'
import type { Jpeg } from '../../../formats/jpeg/walk.ts'
import {
  type Blocks,
  blocksOfMcu,
  type Coefficients,
  type Component,
  type Geometry,
  MAX_DC_BITS,
  mcuGrid,
} from './coefficients.ts'
import { extended, LOOKUP_BITS, longCode } from './huffman.ts'
import { type Scan, scansOf } from './scans.ts'

/**
 * `null` if the file is damaged, or isn't a YCbCr image with Huffman coding and 8 bits per sample. `jpeg`: must be valid.
 * `walked`: the result of `walkJpeg` for it.
 */
export async function readCoefficients(jpeg: Uint8Array, walked: Jpeg): Promise<Coefficients | null> {
  const { frame, quantisation, segments } = walked
  if (!isPlainYcc(frame, segments)) return null
  const components: Component[] = []
  for (const { id, horizontal, vertical, quantisation: table } of frame.components) {
    const steps = quantisation[table]
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
  const blocks = blocksOfMcu(image.components)
  const view = new DataView(bytes.buffer)
  // An AC coefficient takes at least two bits.
  const maxCoefficients = Math.min(4 * bytes.length + mcus * blocks.length, 64 * mcus * blocks.length)
  const coefficients = new Int32Array(maxCoefficients + 64)
  const mcuStarts = new Int32Array(mcus + 1)
  const previousDc = new Int32Array(image.components.length)
  const dcTables = blocks.map((component) => dc[component]!)
  const acTables = blocks.map((component) => ac[component]!)
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
      const dcTable = dcTables[block]!
      let word = view.getUint32(at >>> 3) << (at & 7)
      let code = dcTable.short[word >>> (32 - LOOKUP_BITS)] || longCode(dcTable, word)
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
