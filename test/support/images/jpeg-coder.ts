/** A small JPEG encoder for what sharp lacks: restarts, separate scans, odd sampling, lossless and arithmetic coding. */

export interface CodedJpeg {
  width: number
  height: number
  /** Sampling factors per component, horizontal times vertical, as in cjpeg's `-sample`: `2x2,1x1,1x1`. */
  sampling?: string
  /** MCUs between restart markers. */
  restartInterval?: number
  /** One scan per component, instead of one for all. */
  separateScans?: boolean
  lossless?: boolean
  /** Number of fill bytes before markers (ITU-T T.81, B.1.1.2). */
  fillBytes?: number
}

/** Encodes a marker segment. */
export function segment(marker: number, ...body: (Uint8Array | number[])[]): Buffer {
  const bytes = Buffer.concat(body.map((part) => Uint8Array.from(part)))
  const length = bytes.length + 2
  return Buffer.concat([Buffer.from([0xff, marker, length >> 8, length & 255]), bytes])
}

export const SOI = Buffer.from([0xff, 0xd8])
export const EOI = Buffer.from([0xff, 0xd9])

const DC_SIZES = 13

/** DC sizes 0 to 12 have codes of four bits, each its own value; the only AC code is "end of block", one bit. */
const HUFFMAN = segment(
  0xc4,
  [0x00, 0, 0, 0, DC_SIZES, ...new Array(12).fill(0), ...Array.from({ length: DC_SIZES }, (_, size) => size)],
  [0x10, 1, ...new Array(15).fill(0), 0],
)
const FLAT_QUANTISATION = segment(0xdb, [0, ...new Array(64).fill(8)])

/** Flat 8 by 8 blocks (or samples, lossless) that change from one to the next. */
export function codeJpeg(options: CodedJpeg): Buffer {
  const { width, height, restartInterval = 0, lossless = false } = options
  const sampling = factorsOf(options)
  const fill = Buffer.alloc(options.fillBytes ?? 0, 0xff)
  const components = sampling.map(([h, v], index) => [index + 1, (h << 4) | v, 0])
  const frame = [8, height >> 8, height & 255, width >> 8, width & 255, sampling.length, ...components.flat()]
  const scans = options.separateScans
    ? sampling.map((_, index) => [index])
    : [sampling.map((_, index) => index)]
  const parts = [
    SOI,
    fill,
    FLAT_QUANTISATION,
    fill,
    segment(lossless ? 0xc3 : 0xc0, frame),
    fill,
    HUFFMAN,
    segment(0xdd, [restartInterval >> 8, restartInterval & 255]),
  ]
  for (const scan of scans) {
    const selectors = scan.flatMap((index) => [index + 1, 0])
    const spectrum = lossless ? [1, 0, 0] : [0, 63, 0]
    parts.push(segment(0xda, [scan.length, ...selectors, ...spectrum]))
    parts.push(codedData(unitsOf(options, scan), restartInterval, lossless))
  }
  return Buffer.concat([...parts, fill, EOI])
}

function factorsOf({ sampling = '1x1' }: Pick<CodedJpeg, 'sampling'>): [number, number][] {
  return sampling.split(',').map((pair) => pair.split('x').map(Number) as [number, number])
}

/** The MCUs of a scan: the component of each block. */
function unitsOf({ width, height, lossless, ...options }: CodedJpeg, scan: number[]): number[][] {
  const sampling = factorsOf(options)
  const side = lossless ? 1 : 8
  const widest = Math.max(...sampling.map(([h]) => h))
  const tallest = Math.max(...sampling.map(([, v]) => v))
  const alone = scan.length === 1 ? sampling[scan[0]!] : undefined
  const [across, down] = alone
    ? [Math.ceil((width * alone[0]) / widest / side), Math.ceil((height * alone[1]) / tallest / side)]
    : [Math.ceil(width / (side * widest)), Math.ceil(height / (side * tallest))]
  const unit = alone
    ? [scan[0]!]
    : scan.flatMap((index) => new Array(sampling[index]![0] * sampling[index]![1]).fill(index))
  return new Array(across * down).fill(unit)
}

function codedData(units: number[][], restartInterval: number, lossless: boolean): Buffer {
  const out: number[] = []
  let bits = ''
  const flush = () => {
    while (bits.length % 8) bits += '1'
    for (let at = 0; at < bits.length; at += 8) {
      const byte = Number.parseInt(bits.slice(at, at + 8), 2)
      out.push(byte, ...(byte === 0xff ? [0] : []))
    }
    bits = ''
  }
  let last = new Map<number, number>()
  for (const [index, unit] of units.entries()) {
    if (restartInterval > 0 && index > 0 && index % restartInterval === 0) {
      flush()
      out.push(0xff, 0xd0 + ((index / restartInterval - 1) & 7))
      last = new Map()
    }
    for (const component of unit) {
      const value = lossless ? 0 : ((index * 37 + component * 11) % 200) - 100
      const difference = value - (last.get(component) ?? 0)
      last.set(component, value)
      const size = difference === 0 ? 0 : Math.floor(Math.log2(Math.abs(difference))) + 1
      bits += size.toString(2).padStart(4, '0')
      if (size > 0)
        bits += (difference > 0 ? difference : difference + 2 ** size - 1).toString(2).padStart(size, '0')
      if (!lossless) bits += '0'
    }
  }
  flush()
  return Buffer.from(out)
}

/** 16 by 16 pixels, arithmetic coding. Any bytes are valid code, so the data need not be computed. */
export function arithmeticJpeg(): Buffer {
  return Buffer.concat([
    SOI,
    FLAT_QUANTISATION,
    segment(0xc9, [8, 0, 16, 0, 16, 1, 1, 0x11, 0]),
    segment(0xcc, [0, 0x10, 0x10, 5]),
    segment(0xda, [1, 1, 0, 0, 63, 0]),
    Buffer.alloc(40, 0x55),
    EOI,
  ])
}

/** `file` with segments inserted after its SOI. */
export function withSegments(file: Uint8Array, ...segments: Uint8Array[]): Buffer {
  return Buffer.concat([SOI, ...segments, file.subarray(2)])
}
