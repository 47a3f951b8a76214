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
    coding: CODINGS[marker & 3] ?? 'sequential',
    arithmetic: marker >= 0xc9,
    precision,
    width,
    height,
    components,
  }
}

const CODINGS = ['sequential', 'sequential', 'progressive', 'lossless'] as const

function isFactor(value: number): boolean {
  return value >= 1 && value <= 4
}

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
  const [spectralStart = 0, , approximation = 0] = body.subarray(1 + 2 * count)
  return { components, tables, spectralStart, approximationHigh: approximation >> 4 }
}

/** Coded units of a scan, and how many 8 by 8 blocks they hold together (A.2). */
export function countBlocks(frame: JpegFrame, scan: JpegScan): { units: number; blocks: number } {
  const widest = Math.max(...frame.components.map(({ horizontal }) => horizontal))
  const tallest = Math.max(...frame.components.map(({ vertical }) => vertical))
  const [only] = scan.components
  if (only && scan.components.length === 1) {
    const across = Math.ceil(Math.ceil((frame.width * only.horizontal) / widest) / 8)
    const down = Math.ceil(Math.ceil((frame.height * only.vertical) / tallest) / 8)
    return { units: across * down, blocks: across * down }
  }
  const units = Math.ceil(frame.width / (8 * widest)) * Math.ceil(frame.height / (8 * tallest))
  const perUnit = scan.components.reduce((sum, { horizontal, vertical }) => sum + horizontal * vertical, 0)
  return { units, blocks: units * perUnit }
}

/** The fewest bytes that the scan's entropy-coded data can have: no Huffman code is shorter than a bit. */
export function leastScanBytes(frame: JpegFrame, scan: JpegScan, blocks: number): number {
  if (frame.arithmetic || frame.coding === 'lossless') return 0
  if (frame.coding === 'sequential') return Math.ceil((blocks * 2) / 8)
  return scan.spectralStart === 0 ? Math.ceil(blocks / 8) : 1
}
