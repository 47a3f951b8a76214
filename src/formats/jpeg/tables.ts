/** The tables of a JPEG (ITU-T T.81, B.2.4), and which of them a scan uses. */
import { type JpegFrame, type JpegScan, segmentLengthError } from './header.ts'

/** One definition in a DQT, DHT or DAC segment. */
export interface JpegTable {
  /** Offset of the definition in its segment's body. Unit: bytes. */
  at: number
  length: number
  /** The slot by which scans refer to it. A later definition of the same slot replaces it. */
  slot: string
  /** A scan uses it. */
  used: boolean
  /** It defines a decodable Huffman code. */
  isValid: boolean
  /** Quantisation tables only: the 64 steps, in zigzag order. */
  values?: Uint16Array
}

/** Slot names, 0 to 3 of each kind. */
export const quantisationSlot = (index: number) => `Q${index}`
/** The restart interval is treated as a table: a later one replaces it. */
export const RESTART_SLOT = 'R'
const dcSlot = (index: number) => `D${index}`
const acSlot = (index: number) => `A${index}`
/** `slot`: of the Huffman table that arithmetic coding would use in its place. */
const conditioningSlot = (slot: string) => `C${slot}`

/** The definitions of a DQT segment (B.2.4.1). */
export function readQuantisation(body: Uint8Array): JpegTable[] {
  const view = new DataView(body.buffer, body.byteOffset, body.length)
  const tables = []
  for (let at = 0; at < body.length; ) {
    const [wide, index] = [view.getUint8(at) >> 4, view.getUint8(at) & 15]
    const length = 1 + (wide ? 128 : 64)
    if (wide > 1 || index > 3 || at + length > body.length) throw segmentLengthError('DQT')
    const first = at + 1
    const values = new Uint16Array(64)
    for (let value = 0; value < 64; value++) {
      values[value] = wide ? view.getUint16(first + 2 * value) : view.getUint8(first + value)
    }
    tables.push({ at, length, slot: quantisationSlot(index), used: false, isValid: true, values })
    at += length
  }
  return tables
}

/** The definitions of a DHT segment (B.2.4.2). Throws when one is truncated. */
export function readHuffman(body: Uint8Array): JpegTable[] {
  const tables: JpegTable[] = []
  for (let at = 0; at < body.length; ) {
    const selector = body[at] ?? 0
    if ((selector & 0xef) > 3 || at + 17 > body.length) throw segmentLengthError('DHT')
    const codes = body.subarray(at + 1, at + 17).reduce((sum, count) => sum + count, 0)
    const length = 17 + codes
    if (codes > 256 || at + length > body.length) throw segmentLengthError('DHT')
    const slot = selector & 0x10 ? acSlot(selector & 15) : dcSlot(selector & 15)
    const isValid = isDecodable(body.subarray(at + 1, at + length), selector)
    tables.push({ at, length, slot, used: false, isValid })
    at += length
  }
  return tables
}

/** The definitions of a DAC segment (B.2.4.3): pairs of a destination and a value. */
export function readConditioning(body: Uint8Array): JpegTable[] {
  if (body.length % 2 !== 0) throw segmentLengthError('DAC')
  return Array.from({ length: body.length / 2 }, (_, index) => {
    const selector = body[2 * index] ?? 0
    const slot = selector & 0x10 ? acSlot(selector & 0xef) : dcSlot(selector)
    return { at: 2 * index, length: 2, slot: conditioningSlot(slot), used: false, isValid: true }
  })
}

/** True if the code lengths form a prefix code (C.2), and no DC difference has more than 16 bits (F.1.2.1, H.1.2.2). */
function isDecodable(definition: Uint8Array, selector: number): boolean {
  let free = 1
  for (const count of definition.subarray(0, 16)) {
    free = 2 * free - count
    if (free < 0) return false
  }
  return (selector & 0x10) !== 0 || definition.subarray(16).every((bits) => bits <= 16)
}

/**
 * The slots of the Huffman tables, or the arithmetic conditioning, that a scan uses. Refinement of DC coefficients uses none
 * (G.1.2.1).
 */
export function codingSlots(
  frame: JpegFrame,
  { tables, spectralStart, approximationHigh }: JpegScan,
): string[] {
  const slots = tables.flatMap(({ dc, ac }) => {
    if (frame.coding === 'lossless') return [dcSlot(dc)]
    if (frame.coding === 'sequential') return [dcSlot(dc), acSlot(ac)]
    if (spectralStart > 0) return [acSlot(ac)]
    return approximationHigh === 0 ? [dcSlot(dc)] : []
  })
  return frame.arithmetic ? slots.map(conditioningSlot) : slots
}
