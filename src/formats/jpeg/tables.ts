/** The tables of a JPEG (ITU-T T.81, B.2.4), and which of them a scan is decoded with. */
import { type JpegFrame, type JpegScan, wrongLength } from './header.ts'

/** One definition in a DQT or DHT segment. */
export interface JpegTable {
  /** Offset of the definition in its segment's body. Unit: bytes. */
  at: number
  length: number
  /** Where a scan finds it. A later definition with the same slot takes its place. */
  slot: string
  /** A scan was decoded with it. */
  used: boolean
  /** A decoder can make codes of it. */
  isSound: boolean
}

/** Names of slots: 0 to 3 of each. */
export const quantisationSlot = (index: number) => `Q${index}`
/** The restart interval is replaced by a later one, too. */
export const RESTART_SLOT = 'R'
const dcSlot = (index: number) => `D${index}`
const acSlot = (index: number) => `A${index}`

/** The definitions of a DQT segment (B.2.4.1) with 64 values each, in zigzag order. */
export function readQuantisation(body: Uint8Array): (JpegTable & { index: number; values: Uint16Array })[] {
  const view = new DataView(body.buffer, body.byteOffset, body.length)
  const tables = []
  for (let at = 0; at < body.length; ) {
    const [wide, index] = [view.getUint8(at) >> 4, view.getUint8(at) & 15]
    const length = 1 + (wide ? 128 : 64)
    if (wide > 1 || index > 3 || at + length > body.length) throw wrongLength('DQT')
    const first = at + 1
    const values = new Uint16Array(64)
    for (let value = 0; value < 64; value++) {
      values[value] = wide ? view.getUint16(first + 2 * value) : view.getUint8(first + value)
    }
    tables.push({ at, length, slot: quantisationSlot(index), used: false, isSound: true, index, values })
    at += length
  }
  return tables
}

/** The definitions of a DHT segment (B.2.4.2), which must be whole. */
export function readHuffman(body: Uint8Array): JpegTable[] {
  const tables: JpegTable[] = []
  for (let at = 0; at < body.length; ) {
    const selector = body[at] ?? 0
    if ((selector & 0xef) > 3 || at + 17 > body.length) throw wrongLength('DHT')
    const codes = body.subarray(at + 1, at + 17).reduce((sum, count) => sum + count, 0)
    const length = 17 + codes
    if (codes > 256 || at + length > body.length) throw wrongLength('DHT')
    const slot = selector & 0x10 ? acSlot(selector & 15) : dcSlot(selector & 15)
    const isSound = hasCodes(body.subarray(at + 1, at + length), selector)
    tables.push({ at, length, slot, used: false, isSound })
    at += length
  }
  return tables
}

/** No more codes of a length than there are (C.2), and no difference of more bits than a sample has (F.1.2.1, H.1.2.2). */
function hasCodes(definition: Uint8Array, selector: number): boolean {
  let free = 1
  for (const count of definition.subarray(0, 16)) {
    free = 2 * free - count
    if (free < 0) return false
  }
  return (selector & 0x10) !== 0 || definition.subarray(16).every((bits) => bits <= 16)
}

/** The tables that a scan is decoded with. Refinements of DC coefficients need none (G.1.2.1). */
export function huffmanSlots(
  frame: JpegFrame,
  { tables, spectralStart, approximationHigh }: JpegScan,
): string[] {
  if (frame.arithmetic) return []
  return tables.flatMap(({ dc, ac }) => {
    if (frame.coding === 'lossless') return [dcSlot(dc)]
    if (frame.coding === 'sequential') return [dcSlot(dc), acSlot(ac)]
    if (spectralStart > 0) return [acSlot(ac)]
    return approximationHigh === 0 ? [dcSlot(dc)] : []
  })
}
