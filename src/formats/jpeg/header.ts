/** The tables and headers of a JPEG (ITU-T T.81, annex B), each read from its segment's body. */
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
  /** First coefficient; 0 carries the picture's rough values. */
  spectralStart: number
  /** High bit position of the pass before, 0 in a first pass. */
  approximationHigh: number
}

function wrongLength(): Error {
  return damaged('The JPEG file is inconsistent: a table or header has a wrong length.')
}

/** SOF0 to SOF3 and SOF9 to SOF11. The differential ones (B.2.2) belong to hierarchical files, which nothing shows. */
export function isFrame(marker: number): boolean {
  return (marker >= 0xc0 && marker <= 0xc3) || (marker >= 0xc9 && marker <= 0xcb)
}

export function readFrame(marker: number, body: Uint8Array): JpegFrame {
  const count = body[5]
  if (count === undefined || body.length !== 6 + 3 * count) throw wrongLength()
  const height = (body[1]! << 8) | body[2]!
  const width = (body[3]! << 8) | body[4]!
  checkDimensions(width, height)
  if (count < 1 || count > 4)
    throw damaged('The JPEG file is inconsistent: it has no usable colour components.')
  const components: JpegComponent[] = []
  for (let at = 6; at < body.length; at += 3) {
    const component = {
      id: body[at]!,
      horizontal: body[at + 1]! >> 4,
      vertical: body[at + 1]! & 15,
      quantisation: body[at + 2]!,
    }
    if (!isFactor(component.horizontal) || !isFactor(component.vertical)) {
      throw damaged('The JPEG file is inconsistent: a sampling factor is out of range.')
    }
    components.push(component)
  }
  const coding = (['sequential', 'sequential', 'progressive', 'lossless'] as const)[marker & 3]!
  return { coding, arithmetic: marker >= 0xc9, precision: body[0]!, width, height, components }
}

function isFactor(value: number): boolean {
  return value >= 1 && value <= 4
}

export function readScan(frame: JpegFrame, body: Uint8Array): JpegScan {
  const count = body[0]
  if (count === undefined || count < 1 || count > 4 || body.length !== 4 + 2 * count) throw wrongLength()
  const components: JpegComponent[] = []
  for (let index = 0; index < count; index++) {
    const component = frame.components.find(({ id }) => id === body[1 + 2 * index])
    if (!component)
      throw damaged('The JPEG file is inconsistent: a scan names a component that is not there.')
    components.push(component)
  }
  return {
    components,
    spectralStart: body[body.length - 3]!,
    approximationHigh: body[body.length - 1]! >> 4,
  }
}

/** The tables of a DQT segment (B.2.4.1), 64 values each, in zigzag order. */
export function readQuantisation(body: Uint8Array): Map<number, Uint16Array> {
  const tables = new Map<number, Uint16Array>()
  for (let at = 0; at < body.length; ) {
    const wide = body[at]! >> 4
    const index = body[at]! & 15
    const length = wide ? 128 : 64
    if (wide > 1 || index > 3 || at + 1 + length > body.length) throw wrongLength()
    const table = new Uint16Array(64)
    for (let value = 0; value < 64; value++) {
      const from = at + 1 + value * (wide + 1)
      table[value] = wide ? (body[from]! << 8) | body[from + 1]! : body[from]!
    }
    tables.set(index, table)
    at += 1 + length
  }
  return tables
}

/** A DHT segment (B.2.4.2) must hold whole tables. */
export function checkHuffman(body: Uint8Array): void {
  for (let at = 0; at < body.length; ) {
    if ((body[at]! & 0xef) > 3 || at + 17 > body.length) throw wrongLength()
    let codes = 0
    for (let bits = 1; bits <= 16; bits++) codes += body[at + bits]!
    at += 17 + codes
    if (codes > 256 || at > body.length) throw wrongLength()
  }
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
