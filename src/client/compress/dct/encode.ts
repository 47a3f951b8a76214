/** Writes quantised DCT coefficients as the scan of a baseline JPEG, with the best Huffman tables for it (ITU-T T.81, K.2). */
import { concatBytes } from '../../../bytes.ts'
import { DHT, DQT, encodeSegment, SOS } from '../../../formats/jpeg/segments.ts'
import { blocksOfMcu, type Coefficients } from './coefficients.ts'

const SOF0 = 0xc0
const EOB = 0
const ZRL = 0xf0

/** Huffman tables: DC and AC of the first component, DC and AC of the others. */
const TABLES = 4
const AC = 1
const CHROMA = 2

/**
 * From DQT to the end of the scan's data. Each symbol of the scan is first stored as additional bits × 1024 + table × 256 + symbol,
 * because the tables depend on how often each of them occurs.
 */
export function encodeFrame(image: Coefficients): Uint8Array<ArrayBuffer> {
  const { width, height, components } = image
  const { symbols, counts } = symbolsOf(image)
  const codes = Array.from({ length: TABLES }, (_, table) =>
    huffmanOf(counts.subarray(table << 8, (table + 1) << 8)),
  )
  const frame = Uint8Array.of(8, height >> 8, height & 255, width >> 8, width & 255, components.length)
  const perComponent = components.map(({ id, horizontal, vertical }, index) =>
    Uint8Array.of(id, (horizontal << 4) | vertical, Math.min(index, 1)),
  )
  const selectors = components.map(({ id }, index) => Uint8Array.of(id, index === 0 ? 0x00 : 0x11))
  return concatBytes(
    ...components
      .slice(0, 2)
      .map(({ steps }, index) =>
        encodeSegment(DQT, concatBytes(Uint8Array.of(index), Uint8Array.from(steps))),
      ),
    encodeSegment(SOF0, concatBytes(frame, ...perComponent)),
    ...codes.map(({ lengths, symbols: values }, table) =>
      encodeSegment(DHT, concatBytes(Uint8Array.of(((table & AC) << 4) | (table >> 1)), lengths, values)),
    ),
    encodeSegment(SOS, concatBytes(Uint8Array.of(components.length), ...selectors, Uint8Array.of(0, 63, 0))),
    scanOf(symbols, counts, codes),
  )
}

function symbolsOf({ components, coefficients, mcuStarts }: Coefficients) {
  const blocks = blocksOfMcu(components)
  const mcus = mcuStarts.length - 1
  // Each block may need an EOB and three ZRL.
  const symbols = new Int32Array(coefficients.length + 4 * mcus * blocks.length)
  const counts = new Uint32Array(TABLES << 8)
  const previousDc = new Int32Array(components.length)
  let from = 0
  let count = 0
  for (let mcu = 0; mcu < mcus; mcu++) {
    for (let block = 0; block < blocks.length; block++) {
      const component = blocks[block]!
      const dcTable = component === 0 ? 0 : CHROMA << 8
      const acTable = dcTable | (AC << 8)
      const dc = coefficients[from++]! >> 6
      let symbol = symbolOf(dc - previousDc[component]!, 0) | dcTable
      previousDc[component] = dc
      counts[symbol & 1023]!++
      symbols[count++] = symbol
      let last = 0
      for (; from < coefficients.length; from++) {
        const entry = coefficients[from]!
        const index = entry & 63
        if (index === 0) break
        let run = index - last - 1
        last = index
        for (; run > 15; run -= 16) {
          counts[acTable | ZRL]!++
          symbols[count++] = acTable | ZRL
        }
        symbol = symbolOf(entry >> 6, run) | acTable
        counts[symbol & 1023]!++
        symbols[count++] = symbol
      }
      if (last < 63) {
        counts[acTable | EOB]!++
        symbols[count++] = acTable | EOB
      }
    }
  }
  return { symbols: symbols.subarray(0, count), counts }
}

/** Symbol and additional bits of a value (F.1.2.1). */
function symbolOf(value: number, run: number): number {
  const sign = value >> 31
  const size = 32 - Math.clz32((value ^ sign) - sign)
  const bits = (value + sign) & ((1 << size) - 1)
  return (bits << 10) | (run << 4) | size
}

interface HuffmanCode {
  /** Number of codes by length, 1 to 16. */
  lengths: Uint8Array
  /** Symbols, shortest code first. */
  symbols: Uint8Array
  /** By symbol: code × 32 + length. */
  codes: Uint32Array
}

const MAX_CODE_BITS = 16

/** Optimal code lengths of at most 16 bits (K.2). One more symbol takes the code of all ones, which is not allowed. */
function huffmanOf(counts: Uint32Array): HuffmanCode {
  const total = Uint32Array.from([...counts, 1])
  const lengthOf = new Uint8Array(257)
  /** Symbols that share a branch of the tree, as linked lists. */
  const next = new Int16Array(257).fill(-1)
  for (;;) {
    const [rarest, second] = rarestTwo(total)
    if (second < 0) break
    total[rarest]! += total[second]!
    total[second] = 0
    let symbol = rarest
    for (; ; symbol = next[symbol]!) {
      lengthOf[symbol]!++
      if (next[symbol]! < 0) break
    }
    next[symbol] = second
    for (symbol = second; symbol >= 0; symbol = next[symbol]!) lengthOf[symbol]!++
  }
  const numbers = new Uint32Array(258)
  for (const length of lengthOf) if (length > 0) numbers[length]!++
  for (let length = 257; length > MAX_CODE_BITS; length--) {
    while (numbers[length]! > 0) {
      let shorter = length - 2
      while (numbers[shorter] === 0) shorter--
      numbers[length]! -= 2
      numbers[length - 1]!++
      numbers[shorter + 1]! += 2
      numbers[shorter]!--
    }
  }
  let longest = MAX_CODE_BITS
  while (longest > 0 && numbers[longest] === 0) longest--
  numbers[longest]!--
  const symbols = [...lengthOf.keys()].filter((symbol) => symbol < 256 && lengthOf[symbol]! > 0)
  symbols.sort((a, b) => lengthOf[a]! - lengthOf[b]! || a - b)
  const codes = new Uint32Array(256)
  let code = 0
  let index = 0
  for (let length = 1; length <= MAX_CODE_BITS; length++, code <<= 1) {
    for (let i = 0; i < numbers[length]!; i++) codes[symbols[index++]!] = (code++ << 5) | length
  }
  return { lengths: Uint8Array.from(numbers.subarray(1, 17)), symbols: Uint8Array.from(symbols), codes }
}

/** Indices of the two smallest numbers above 0, of equal ones the last. -1 if there are no more. */
function rarestTwo(numbers: Uint32Array): [number, number] {
  let [rarest, second] = [-1, -1]
  for (let at = 0; at < numbers.length; at++) {
    const number = numbers[at]!
    if (number === 0) continue
    if (rarest < 0 || number <= numbers[rarest]!) {
      second = rarest
      rarest = at
    } else if (second < 0 || number <= numbers[second]!) second = at
  }
  return [rarest, second]
}

/** The entropy-coded data, with stuffed bytes. */
function scanOf(symbols: Int32Array, counts: Uint32Array, tables: HuffmanCode[]): Uint8Array {
  const codes = new Uint32Array(TABLES << 8)
  for (const [index, table] of tables.entries()) codes.set(table.codes, index << 8)
  const bits = counts.reduce((sum, count, symbol) => sum + count * ((codes[symbol]! & 31) + (symbol & 15)), 7)
  const coded = new Uint8Array((bits >> 3) + 8)
  const view = new DataView(coded.buffer)
  let at = 0
  let word = 0
  let free = 32
  for (let i = 0; i < symbols.length; i++) {
    const symbol = symbols[i]!
    const code = codes[symbol & 1023]!
    const size = symbol & 15
    // A code of 16 bits with 11 more fits into a word.
    const length = (code & 31) + size
    const value = ((code >>> 5) << size) | (symbol >>> 10)
    if (length <= free) {
      free -= length
      word |= value << free
    } else {
      const rest = length - free
      view.setUint32(at, word | (value >>> rest))
      at += 4
      free = 32 - rest
      word = value << free
    }
    if (free === 0) {
      view.setUint32(at, word)
      at += 4
      free = 32
      word = 0
    }
  }
  // Padded with ones (F.1.2.3).
  view.setUint32(at, word | (free === 0 ? 0 : (2 ** free - 1) | 0))
  return stuffed(coded.subarray(0, at + Math.ceil((32 - free) / 8)))
}

function stuffed(coded: Uint8Array): Uint8Array {
  let count = 0
  for (let at = coded.indexOf(0xff); at >= 0; at = coded.indexOf(0xff, at + 1)) count++
  const bytes = new Uint8Array(coded.length + count)
  let to = 0
  let from = 0
  for (let at = coded.indexOf(0xff); at >= 0; at = coded.indexOf(0xff, at + 1)) {
    bytes.set(coded.subarray(from, at + 1), to)
    to += at + 2 - from
    from = at + 1
  }
  bytes.set(coded.subarray(from), to)
  return bytes
}
