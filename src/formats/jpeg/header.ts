/** The headers of a JPEG (ITU-T T.81, B.2.2 and B.2.3), each read from its segment's body. */
import { checkDimensions, damaged } from '../damaged.ts'

export interface JpegComponent {
  id: number
  /** Sampling factors, 1 to 4. */
  horizontal: number
  vertical: number
  /** Which quantisation table it uses, 0 to 3. */
  quantisation: number
}

export interface JpegFrame {
  coding: 'sequential' | 'progressive' | 'lossless'
  arithmetic: boolean
  /** Unit: bits a sample. */
  precision: number
  /** As stored, before orientation. Unit: pixels. */
  width: number
  height: number
  /** No two components have the same number. Decoders of old files number them anew. */
  hasOwnIds: boolean
  /** One: grey. Three: colour. Four: CMYK or YCCK. */
  components: JpegComponent[]
}

export interface JpegScan {
  components: JpegComponent[]
  /** The slots of the entropy coding tables that each component names, in the order of `components`. */
  tables: { dc: number; ac: number }[]
  /** First coefficient; 0 carries the picture's rough values. */
  spectralStart: number
  /** High bit position of the pass before, 0 in a first pass. */
  approximationHigh: number
}

export function wrongLength(name: string): Error {
  return damaged(`The JPEG file is damaged: the length of a ${name} segment does not fit what is in it.`)
}

/** SOF0 to SOF3 and SOF9 to SOF11. The differential ones (B.2.2) belong to hierarchical files, which nothing shows. */
export function isFrame(marker: number): boolean {
  return (marker >= 0xc0 && marker <= 0xc3) || (marker >= 0xc9 && marker <= 0xcb)
}

export function readFrame(marker: number, body: Uint8Array): JpegFrame {
  const count = body[5]
  if (count === undefined || body.length !== 6 + 3 * count) throw wrongLength('SOF')
  const view = new DataView(body.buffer, body.byteOffset, body.length)
  const [precision, height, width] = [view.getUint8(0), view.getUint16(1), view.getUint16(3)]
  checkDimensions(width, height)
  if (count < 1 || count > 4) {
    throw damaged(`The JPEG file is damaged: its frame has ${count} colour components instead of 1 to 4.`)
  }
  const coding = CODINGS[marker & 3] ?? 'sequential'
  if (!hasPrecision(marker, precision)) {
    throw damaged(`The JPEG file is damaged: its coding has no samples of ${precision} bits.`)
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
    hasOwnIds: new Set(components.map(({ id }) => id)).size === count,
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

/** Blocks of one coded unit of several components (B.2.3). Decoders hold no more. */
const MAX_UNIT_BLOCKS = 10

export function readScan(frame: JpegFrame, body: Uint8Array): JpegScan {
  const count = body[0]
  if (count === undefined || count < 1 || count > 4 || body.length !== 4 + 2 * count) throw wrongLength('SOS')
  const components: JpegComponent[] = []
  const tables: JpegScan['tables'] = []
  for (let index = 0; index < count; index++) {
    const [id, selectors = 0] = body.subarray(1 + 2 * index)
    const component = frame.components.find((one) => one.id === id)
    if (!component)
      throw damaged(
        'The JPEG file is damaged: a scan refers to a component that the frame header does not define.',
      )
    components.push(component)
    tables.push({ dc: selectors >> 4, ac: selectors & 15 })
  }
  const perUnit = components.reduce((sum, { horizontal, vertical }) => sum + horizontal * vertical, 0)
  if (count > 1 && frame.coding !== 'lossless' && perUnit > MAX_UNIT_BLOCKS) {
    throw badScan(`codes ${perUnit} blocks at a time`)
  }
  if (components.length > new Set(components).size && frame.hasOwnIds)
    throw badScan('names a component twice')
  if (tables.some(({ dc, ac }) => dc > 3 || ac > 3)) throw badScan('names a table that does not exist')
  const [start = 0, end = 0, approximation = 0] = body.subarray(1 + 2 * count)
  const [high, low] = [approximation >> 4, approximation & 15]
  if (frame.coding === 'progressive') checkProgression({ count, start, end, high, low })
  if (frame.coding === 'lossless' && (start < 1 || start > 7 || low >= frame.precision)) {
    throw badScan('names a predictor that does not exist')
  }
  return { components, tables, spectralStart: start, approximationHigh: high }
}

function badScan(what: string): Error {
  return damaged(`The JPEG file is damaged: a scan ${what}.`)
}

/** Which coefficients a scan brings, and which of their bits (G.1.1.1; table B.3). */
function checkProgression(scan: {
  count: number
  start: number
  end: number
  high: number
  low: number
}): void {
  const { count, start, end, high, low } = scan
  const isBand = start === 0 ? end === 0 : start <= end && end <= 63 && count === 1
  const isStep = low <= 13 && (high === 0 || high === low + 1)
  if (!isBand || !isStep) throw badScan('brings coefficients that do not exist')
}

function greatestFactors({ components }: JpegFrame): { widest: number; tallest: number } {
  return {
    widest: Math.max(...components.map(({ horizontal }) => horizontal)),
    tallest: Math.max(...components.map(({ vertical }) => vertical)),
  }
}

/** Number of 8 by 8 blocks of a component in a non-interleaved scan (A.2.2). */
function blocksOf(frame: JpegFrame, { horizontal, vertical }: JpegComponent): number {
  const { widest, tallest } = greatestFactors(frame)
  const across = Math.ceil(Math.ceil((frame.width * horizontal) / widest) / 8)
  return across * Math.ceil(Math.ceil((frame.height * vertical) / tallest) / 8)
}

/** Coded units of a scan, and how many 8 by 8 blocks they hold together (A.2). */
export function countBlocks(frame: JpegFrame, scan: JpegScan): { units: number; blocks: number } {
  const [only] = scan.components
  if (only && scan.components.length === 1) {
    const blocks = blocksOf(frame, only)
    return { units: blocks, blocks }
  }
  const { widest, tallest } = greatestFactors(frame)
  const units = Math.ceil(frame.width / (8 * widest)) * Math.ceil(frame.height / (8 * tallest))
  const perUnit = scan.components.reduce((sum, { horizontal, vertical }) => sum + horizontal * vertical, 0)
  return { units, blocks: units * perUnit }
}

/** The fewest bytes that the scan's entropy-coded data can have: no Huffman code is shorter than a bit. */
export function minScanBytes(frame: JpegFrame, scan: JpegScan, blocks: number): number {
  if (frame.arithmetic || frame.coding === 'lossless') return 0
  if (frame.coding === 'sequential') return Math.ceil((blocks * 2) / 8)
  return scan.spectralStart === 0 ? Math.ceil(blocks / 8) : 1
}

/**
 * Encoders write a dozen, or one for each of the 64 coefficients of three components. A decoder goes through the whole
 * picture for each, however short it is (libjpeg-turbo, "Two issues with the JPEG standard").
 */
const MAX_SCANS = 256

/** How often a decoder may go through all of a large picture. */
const MAX_PASSES = 32
/** Up to four megapixels a picture may have all its scans. */
const SMALL_PICTURE_BLOCKS = 2 ** 16

/** Counts the scans of one picture, and the blocks that each makes a decoder go through. Throws for too many. */
export function scanCounter(): (frame: JpegFrame, blocks: number) => void {
  let scans = 0
  let sum = 0
  return (frame, blocks) => {
    const whole = frame.components.reduce((all, one) => all + blocksOf(frame, one), 0)
    scans++
    sum += blocks
    if (scans > MAX_SCANS || sum > Math.max(MAX_PASSES * whole, MAX_SCANS * SMALL_PICTURE_BLOCKS)) {
      throw damaged('The JPEG file has more scans than a picture needs.')
    }
  }
}
