/** Writes quantised DCT coefficients as the scan of a baseline JPEG, with the best Huffman tables for it (ITU-T T.81, K.2). */
import { concatBytes } from '../../../bytes.ts'
import { DHT, DQT, EOI, encodeSegment, SOI, SOS } from '../../../formats/jpeg/segments.ts'
import { blocksOfMcu, type Coefficients, forBatches } from './coefficients.ts'
import { type Requantisation, requantisationOf, requantisedDc, requantisedSize } from './quantise.ts'

const SOF0 = 0xc0
const EOB = 0
const ZRL = 0xf0

const SOI_BYTES = Uint8Array.of(0xff, SOI)
const EOI_BYTES = Uint8Array.of(0xff, EOI)

/** Every step is at least 1. */
const UNCHANGED = { luma: new Uint16Array(64), chroma: new Uint16Array(64) }

/** Huffman tables: DC and AC of the first component, DC and AC of the others. */
const TABLES = 4
const AC = 1
const CHROMA = 2

/**
 * From DQT to the end of the scan's data. Each symbol of the scan is first stored as additional bits × 1024 + table × 256 + symbol,
 * because the tables depend on how often each of them occurs.
 */
export function encodeFrame(
  image: Coefficients,
  requantisation: Requantisation = requantisationOf(image, UNCHANGED),
): Uint8Array<ArrayBuffer> {
  const { width, height } = image
  const { components } = requantisation
  const { symbols, counts } = symbolsOf(image, requantisation)
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

/** A whole JPEG. `segments`: those before the frame, whole. */
export function encodeFile(
  image: Coefficients,
  requantisation: Requantisation,
  segments: Uint8Array[],
): Uint8Array<ArrayBuffer> {
  return concatBytes(SOI_BYTES, ...segments, encodeFrame(image, requantisation), EOI_BYTES)
}

/** Lower bound for the entropy-coded data of `encodeFrame`, whose codes have whole bits. Unit: bytes. */
export function estimatedBytes(image: Coefficients, requantisation: Requantisation): number {
  const { counts } = symbolsOf(image, requantisation)
  let bits = 0
  for (let table = 0; table < TABLES; table++) {
    const own = counts.subarray(table << 8, (table + 1) << 8)
    const total = own.reduce((sum, count) => sum + count)
    for (const [symbol, count] of own.entries())
      if (count > 0) bits += count * (Math.log2(total / count) + (symbol & 15))
  }
  return bits / 8
}

function symbolsOf(image: Coefficients, { components, ratios }: Requantisation) {
  const total = image.blockStarts.length - 1
  const writer: SymbolWriter = {
    image,
    ratios,
    blocks: blocksOfMcu(components),
    // Each block may need an EOB and three ZRL. Unless it is kept, a symbol is overwritten by the next one.
    symbols: new Int32Array(image.coefficients.length + 4 * total + 1),
    counts: new Uint32Array(TABLES << 8),
    previousDc: new Int32Array(components.length),
    count: 0,
  }
  forBatches(total, (first, end) => writeSymbols(writer, first, end))
  return { symbols: writer.symbols.subarray(0, writer.count), counts: writer.counts }
}

interface SymbolWriter {
  image: Coefficients
  ratios: Int32Array[]
  /** The component of each block in an MCU. */
  blocks: number[]
  symbols: Int32Array
  /** By table × 256 + symbol. */
  counts: Uint32Array
  /** By component. */
  previousDc: Int32Array
  count: number
}

/** The symbols of the blocks from `first` to before `end`. Without branches on coefficients, which can't be predicted. */
function writeSymbols(writer: SymbolWriter, first: number, end: number): void {
  const { image, ratios, blocks, symbols, counts, previousDc } = writer
  const { coefficients, blockStarts } = image
  let { count } = writer
  for (let block = first; block < end; block++) {
    const component = blocks[block % blocks.length]!
    const ratio = ratios[component]!
    const dcTable = component === 0 ? 0 : CHROMA << 8
    const acTable = dcTable | (AC << 8)
    const start = blockStarts[block]!
    const afterBlock = blockStarts[block + 1]!
    const dc = requantisedDc(coefficients[start]! >> 6, ratio[0]!)
    const difference = dc - previousDc[component]!
    const sign = difference >> 31
    previousDc[component] = dc
    const symbol = symbolOf((difference ^ sign) - sign, sign) | dcTable
    counts[symbol & 1023]!++
    symbols[count++] = symbol
    let previous = 0
    for (let at = start + 1; at < afterBlock; at++) {
      const entry = coefficients[at]!
      const index = entry & 63
      const value = entry >> 6
      const size = requantisedSize(value, ratio[index]!)
      const isKept = (size | -size) >>> 31
      let run = index - previous - 1
      for (; run > 15 && isKept; run -= 16) {
        counts[acTable | ZRL]!++
        symbols[count++] = acTable | ZRL
      }
      const symbol = symbolOf(size, value >> 31) | ((run & 15) << 4) | acTable
      counts[symbol & 1023]! += isKept
      symbols[count] = symbol
      count += isKept
      previous += (index - previous) & -isKept
    }
    if (previous < 63) {
      counts[acTable | EOB]!++
      symbols[count++] = acTable | EOB
    }
  }
  writer.count = count
}

/** Symbol without a run, and additional bits, of a value (F.1.2.1). `sign`: 0, or -1 if it is negative. */
function symbolOf(absolute: number, sign: number): number {
  const size = 32 - Math.clz32(absolute)
  const bits = absolute ^ (sign & ((1 << size) - 1))
  return (bits << 10) | size
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
  const writer: BitWriter = { codes, view: new DataView(coded.buffer), at: 0, word: 0, free: 32 }
  forBatches(symbols.length, (first, end) => writeCodes(writer, symbols, first, end))
  const { view, at, word, free } = writer
  // Padded with ones (F.1.2.3).
  view.setUint32(at, word | (free === 0 ? 0 : (2 ** free - 1) | 0))
  return stuffed(coded.subarray(0, at + Math.ceil((32 - free) / 8)))
}

interface BitWriter {
  /** By table × 256 + symbol: code × 32 + length. */
  codes: Uint32Array
  view: DataView
  /** Where the next word is written, and its bits so far. */
  at: number
  word: number
  free: number
}

function writeCodes(writer: BitWriter, symbols: Int32Array, first: number, end: number): void {
  const { codes, view } = writer
  let { at, word, free } = writer
  for (let i = first; i < end; i++) {
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
  writer.at = at
  writer.word = word
  writer.free = free
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
