/** Frame and scan headers of a JPEG (ITU-T T.81, B.2.2 and B.2.3). */
import { checkDimensions, damaged } from '../damaged.ts'

export interface JpegComponent {
  id: number
  /** Sampling factors, 1 to 4. */
  horizontal: number
  vertical: number
  /** Index of its quantisation table, 0 to 3. */
  quantisation: number
}

export interface JpegFrame {
  coding: 'sequential' | 'progressive' | 'lossless'
  arithmetic: boolean
  /** Unit: bits per sample. */
  precision: number
  /** As stored, before orientation. Unit: pixels. */
  width: number
  height: number
  /** All component IDs are distinct. */
  hasUniqueIds: boolean
  /** One: grey. Three: colour. Four: CMYK or YCCK. */
  components: JpegComponent[]
}

export interface JpegScan {
  components: JpegComponent[]
  /** The entropy coding table slots of each component, in the order of `components`. */
  tables: { dc: number; ac: number }[]
  /** First and last coefficient; 0 is the DC coefficient. */
  spectralStart: number
  spectralEnd: number
  /** Bit position of the preceding pass; 0 in a first pass. */
  approximationHigh: number
  /** Bit position of this pass. */
  approximationLow: number
}

export function segmentLengthError(name: string): Error {
  return damaged(`The JPEG file is damaged: the length of a ${name} segment does not match its contents.`)
}

/** SOF0 to SOF3 and SOF9 to SOF11. Differential frames (B.2.2) belong to hierarchical files, which no viewer supports. */
export function isFrame(marker: number): boolean {
  return (marker >= 0xc0 && marker <= 0xc3) || (marker >= 0xc9 && marker <= 0xcb)
}

export function readFrame(marker: number, body: Uint8Array): JpegFrame {
  const count = body[5]
  if (count === undefined || body.length !== 6 + 3 * count) throw segmentLengthError('SOF')
  const view = new DataView(body.buffer, body.byteOffset, body.length)
  const [precision, height, width] = [view.getUint8(0), view.getUint16(1), view.getUint16(3)]
  checkDimensions(width, height)
  if (count < 1 || count > 4) {
    throw damaged(`The JPEG file is damaged: its frame has ${count} colour components instead of 1 to 4.`)
  }
  const coding = CODINGS[marker & 3] ?? 'sequential'
  if (!hasPrecision(marker, precision)) {
    throw damaged(`The JPEG file is damaged: its coding does not allow samples of ${precision} bits.`)
  }
  const components = Array.from({ length: count }, (_, index): JpegComponent => {
    const at = 6 + 3 * index
    const factors = view.getUint8(at + 1)
    return {
      id: view.getUint8(at),
      horizontal: factors >> 4,
      vertical: factors & 15,
      quantisation: view.getUint8(at + 2),
    }
  })
  if (!components.every(({ horizontal, vertical }) => isFactor(horizontal) && isFactor(vertical))) {
    throw damaged('The JPEG file is damaged: a sampling factor of its frame is not 1 to 4.')
  }
  return {
    coding,
    arithmetic: marker >= 0xc9,
    precision,
    width,
    height,
    hasUniqueIds: new Set(components.map(({ id }) => id)).size === count,
    components,
  }
}

const CODINGS = ['sequential', 'sequential', 'progressive', 'lossless'] as const

/** Table B.2. */
function hasPrecision(marker: number, precision: number): boolean {
  if (marker === 0xc0) return precision === 8
  if ((marker & 3) === 3) return precision >= 2 && precision <= 16
  return precision === 8 || precision === 12
}

function isFactor(value: number): boolean {
  return value >= 1 && value <= 4
}

/** Maximum number of blocks in an interleaved MCU (B.2.3). Decoders allocate no more. */
const MAX_UNIT_BLOCKS = 10

export function readScan(frame: JpegFrame, body: Uint8Array): JpegScan {
  const count = body[0]
  if (count === undefined || count < 1 || count > 4 || body.length !== 4 + 2 * count)
    throw segmentLengthError('SOS')
  const components: JpegComponent[] = []
  const tables: JpegScan['tables'] = []
  for (let index = 0; index < count; index++) {
    const [id, selectors = 0] = body.subarray(1 + 2 * index)
    // Some old files give several components the same ID: decoders then take the next one.
    const component = frame.components.find((one) => one.id === id && !components.includes(one))
    if (!component)
      throw damaged(
        'The JPEG file is damaged: a scan refers to a component that the frame header does not define.',
      )
    components.push(component)
    tables.push({ dc: selectors >> 4, ac: selectors & 15 })
  }
  const blocks = blocksPerUnit(components)
  if (count > 1 && frame.coding !== 'lossless' && blocks > MAX_UNIT_BLOCKS) {
    throw scanError(`codes ${blocks} blocks at a time`)
  }
  if (tables.some(({ dc, ac }) => dc > 3 || ac > 3)) throw scanError('names a table that does not exist')
  const [start = 0, end = 0, approximation = 0] = body.subarray(1 + 2 * count)
  const [high, low] = [approximation >> 4, approximation & 15]
  if (frame.coding === 'progressive') {
    // Spectral selection and successive approximation (G.1.1.1; table B.3).
    const isBand = start === 0 ? end === 0 : start <= end && end <= 63 && count === 1
    const isStep = low <= 13 && (high === 0 || high === low + 1)
    if (!isBand || !isStep) throw scanError('selects coefficients that do not exist')
  }
  if (frame.coding === 'lossless' && (start < 1 || start > 7 || low >= frame.precision)) {
    throw scanError('names a predictor that does not exist')
  }
  return {
    components,
    tables,
    spectralStart: start,
    spectralEnd: end,
    approximationHigh: high,
    approximationLow: low,
  }
}

function scanError(problem: string): Error {
  return damaged(`The JPEG file is damaged: a scan ${problem}.`)
}

/** Number of blocks in an interleaved MCU of these components. */
function blocksPerUnit(components: JpegComponent[]): number {
  return components.reduce((sum, { horizontal, vertical }) => sum + horizontal * vertical, 0)
}

function maxFactors({ components }: JpegFrame): { maxHorizontal: number; maxVertical: number } {
  return {
    maxHorizontal: Math.max(...components.map(({ horizontal }) => horizontal)),
    maxVertical: Math.max(...components.map(({ vertical }) => vertical)),
  }
}

/** Number of 8 by 8 blocks of a component in a non-interleaved scan (A.2.2). */
function blocksOf(frame: JpegFrame, { horizontal, vertical }: JpegComponent): number {
  const { maxHorizontal, maxVertical } = maxFactors(frame)
  const across = Math.ceil(Math.ceil((frame.width * horizontal) / maxHorizontal) / 8)
  return across * Math.ceil(Math.ceil((frame.height * vertical) / maxVertical) / 8)
}

/** Number of MCUs of a scan, and of the 8 by 8 blocks in them (A.2). */
export function countBlocks(frame: JpegFrame, scan: JpegScan): { units: number; blocks: number } {
  const [only] = scan.components
  if (only && scan.components.length === 1) {
    const blocks = blocksOf(frame, only)
    return { units: blocks, blocks }
  }
  const { maxHorizontal, maxVertical } = maxFactors(frame)
  const units = Math.ceil(frame.width / (8 * maxHorizontal)) * Math.ceil(frame.height / (8 * maxVertical))
  return { units, blocks: units * blocksPerUnit(scan.components) }
}

/** Minimum length of the scan's entropy-coded data: a Huffman code has at least one bit. Unit: bytes. */
export function minScanBytes(frame: JpegFrame, scan: JpegScan, blocks: number): number {
  if (frame.arithmetic || frame.coding === 'lossless') return 0
  if (frame.coding === 'sequential') return Math.ceil((blocks * 2) / 8)
  return scan.spectralStart === 0 ? Math.ceil(blocks / 8) : 1
}

/**
 * Encoders write a dozen scans, or at most one per coefficient: 64 for each of three components. A decoder passes over the
 * whole image for each scan, however short it is (libjpeg-turbo, "Two issues with the JPEG standard").
 */
const MAX_SCANS = 256

/** Limit on a decoder's passes over all of a large image. */
const MAX_PASSES = 32
/** Images of up to four megapixels may use all `MAX_SCANS`. */
const SMALL_PICTURE_BLOCKS = 2 ** 16

/** Throws when an image has too many scans. `blocks`: the blocks that a decoder visits for all of them. */
export function checkScanCount(frame: JpegFrame, scans: number, blocks: number): void {
  const whole = frame.components.reduce((all, one) => all + blocksOf(frame, one), 0)
  if (scans > MAX_SCANS || blocks > Math.max(MAX_PASSES * whole, MAX_SCANS * SMALL_PICTURE_BLOCKS)) {
    throw damaged('The JPEG file has too many scans.')
  }
}
