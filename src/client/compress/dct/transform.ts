/** Discrete cosine transforms of 8 by 8 blocks (ITU-T T.81, A.3.3), from and to planes of samples. */
import { blocksOfMcu, type Coefficients, type Component, forBatches, mcuGrid } from './coefficients.ts'

/** The samples of one component, row by row. */
export interface Plane {
  data: Uint8ClampedArray
  width: number
  height: number
}

/** By index in zigzag order: row × 8 + column (figure A.6). */
// biome-ignore format: as a table
const ZIGZAG = Uint8Array.of(
  0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28, 35, 42, 49,
  56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
)

/** Cosines of an orthonormal transform, for `size` points: by frequency, then point. */
function cosines(size: number): Float64Array {
  return Float64Array.from({ length: size * size }, (_, index) => {
    const [frequency, point] = [Math.floor(index / size), index % size]
    const scale = Math.sqrt((frequency === 0 ? 1 : 2) / size)
    return scale * Math.cos(((2 * point + 1) * frequency * Math.PI) / (2 * size))
  })
}

/**
 * What a coefficient of 1 adds to each sample of a block, by index in zigzag order: `size` × `size` values each, until all higher
 * frequencies are left out.
 */
function basisOf(steps: Uint16Array, size: number): Float64Array {
  const factors = cosines(size)
  const last = ZIGZAG.findLastIndex((at) => at >> 3 < size && (at & 7) < size)
  const basis = new Float64Array((last + 1) * size * size)
  for (let index = 0, to = 0; index <= last; index++) {
    const [v, u] = [ZIGZAG[index]! >> 3, ZIGZAG[index]! & 7]
    for (let y = 0; y < size; y++) {
      for (let x = 0; x < size; x++, to++) {
        // The mean of a block stays the same, whatever its size.
        if (u < size && v < size)
          basis[to] = (steps[index]! * size * factors[u * size + x]! * factors[v * size + y]!) / 8
      }
    }
  }
  return basis
}

/**
 * The planes of all components, each reduced to `sizes[component]` eighths by leaving out high frequencies, like `scale_num` of
 * libjpeg. 8: full size. 0: the component is left out.
 */
export function planesOf(image: Coefficients, sizes: number[]): Plane[] {
  const { components } = image
  const { across, down } = mcuGrid(image)
  const outputs = components.map((component, index) => {
    const size = sizes[index]!
    return { plane: blockGrid(component, across, down, size), size, basis: basisOf(component.steps, size) }
  })
  const writer: PlaneWriter = {
    outputs,
    blocks: blocksOfMcu(components),
    samples: new Float64Array(64),
    across,
  }
  forBatches(across * down, (first, end) => writePlanes(image, writer, first, end))
  return outputs.map(({ plane }, index) => cropped(plane, sizeOf(image, components[index]!, sizes[index]!)))
}

interface PlaneWriter {
  /** By component. */
  outputs: { plane: Plane; size: number; basis: Float64Array }[]
  /** The component of each block in an MCU. */
  blocks: number[]
  /** Of one block. */
  samples: Float64Array
  /** MCUs in a row. */
  across: number
}

/** The samples of the MCUs from `first` to before `end`. */
function writePlanes(
  { components, coefficients, blockStarts }: Coefficients,
  { outputs, blocks, samples, across }: PlaneWriter,
  first: number,
  end: number,
): void {
  let block = first * blocks.length
  for (let mcu = first; mcu < end; mcu++) {
    const [mcuColumn, mcuRow] = [mcu % across, Math.floor(mcu / across)]
    for (let number = 0, within = 0; number < blocks.length; number++, block++) {
      const component = blocks[number]!
      within = number > 0 && blocks[number - 1] === component ? within + 1 : 0
      const { plane, size, basis } = outputs[component]!
      const area = size * size
      const start = blockStarts[block]!
      const afterBlock = blockStarts[block + 1]!
      const dc = area === 0 ? 0 : 128 + (coefficients[start]! >> 6) * basis[0]!
      for (let i = 0; i < area; i++) samples[i] = dc
      for (let at = start + 1; at < afterBlock; at++) {
        const entry = coefficients[at]!
        const from = (entry & 63) * area
        if (from >= basis.length) break
        const value = entry >> 6
        for (let i = 0; i < area; i++) samples[i]! += value * basis[from + i]!
      }
      const { horizontal, vertical } = components[component]!
      const column = (mcuColumn * horizontal + (within % horizontal)) * size
      const row = (mcuRow * vertical + Math.floor(within / horizontal)) * size
      for (let y = 0, from = 0, to = row * plane.width + column; y < size; y++, to += plane.width) {
        for (let x = 0; x < size; x++, from++) plane.data[to + x] = samples[from]!
      }
    }
  }
}

function blockGrid({ horizontal, vertical }: Component, across: number, down: number, size: number): Plane {
  const [width, height] = [across * horizontal * size, down * vertical * size]
  return { data: new Uint8ClampedArray(width * height), width, height }
}

/** Size of a component's plane in eighths of its size. */
function sizeOf(image: Coefficients, { horizontal, vertical }: Component, eighths: number) {
  const { mcuWidth, mcuHeight } = mcuGrid(image)
  return {
    width: Math.ceil((Math.ceil((8 * image.width * horizontal) / mcuWidth) * eighths) / 8),
    height: Math.ceil((Math.ceil((8 * image.height * vertical) / mcuHeight) * eighths) / 8),
  }
}

function cropped({ data, width }: Plane, size: { width: number; height: number }): Plane {
  if (size.width === width) return { data: data.subarray(0, width * size.height), ...size }
  const result = new Uint8ClampedArray(size.width * size.height)
  for (let row = 0; row < size.height; row++)
    result.set(data.subarray(row * width, row * width + size.width), row * size.width)
  return { data: result, ...size }
}

/**
 * Transforms and quantises a luma plane, alone or with chroma planes of half its size. `steps`: in zigzag order.
 */
export function coefficientsOf(planes: Plane[], steps: Uint16Array): Coefficients {
  const { width, height } = planes[0]!
  const components = planes.map((_, index) => {
    // The scan of a single component is not interleaved: its MCU is one block (A.2.2).
    const factor = index === 0 && planes.length > 1 ? 2 : 1
    return { id: index + 1, horizontal: factor, vertical: factor, steps }
  })
  const { across, down } = mcuGrid({ width, height, components })
  const blocks = blocksOfMcu(components)
  const coefficients = new Int32Array(64 * across * down * blocks.length)
  const blockStarts = new Int32Array(across * down * blocks.length + 1)
  const scales = Float64Array.from(steps, (step, index) => {
    const frequencies = ZIGZAG[index]!
    return 1 / (step * AAN_SCALES[frequencies >> 3]! * AAN_SCALES[frequencies & 7]!)
  })
  const writer: CoefficientWriter = {
    planes,
    components,
    blocks,
    scales,
    across,
    coefficients,
    blockStarts,
    samples: new Float64Array(64),
    block: 0,
    count: 0,
  }
  forBatches(across * down, (first, end) => transformMcus(writer, first, end))
  const { block, count } = writer
  blockStarts[block] = count
  return { width, height, components, coefficients: coefficients.subarray(0, count), blockStarts }
}

interface CoefficientWriter {
  planes: Plane[]
  components: Component[]
  /** The component of each block in an MCU. */
  blocks: number[]
  /** Factors for the results of `transformLine`, by index in zigzag order. */
  scales: Float64Array
  /** MCUs in a row. */
  across: number
  coefficients: Int32Array
  blockStarts: Int32Array
  /** Of one block. */
  samples: Float64Array
  /** Blocks and coefficients written so far. */
  block: number
  count: number
}

/** Transforms the MCUs from `first` to before `end`. */
function transformMcus(writer: CoefficientWriter, first: number, end: number): void {
  const { planes, components, blocks, scales, across, coefficients, blockStarts, samples } = writer
  let { block, count } = writer
  for (let mcu = first; mcu < end; mcu++) {
    const [mcuColumn, mcuRow] = [mcu % across, Math.floor(mcu / across)]
    for (let number = 0; number < blocks.length; number++) {
      const component = blocks[number]!
      const factor = components[component]!.horizontal
      const column = 8 * (mcuColumn * factor + (component === 0 ? number & 1 : 0))
      const row = 8 * (mcuRow * factor + (component === 0 ? number >> 1 : 0))
      blockStarts[block++] = count
      readBlock(planes[component]!, row, column, samples)
      // Rows, then columns, by one call, for engines to inline it once.
      for (let line = 0; line < 16; line++)
        transformLine(samples, line < 8 ? 8 * line : line - 8, line < 8 ? 1 : 8)
      for (let index = 0; index < 64; index++) {
        const value = Math.round(samples[ZIGZAG[index]!]! * scales[index]!)
        if (value !== 0 || index === 0) coefficients[count++] = (value << 6) | index
      }
    }
  }
  writer.block = block
  writer.count = count
}

/** Beyond the edges, the last samples are repeated. */
function readBlock({ data, width, height }: Plane, row: number, column: number, block: Float64Array): void {
  const isInside = column + 8 <= width
  for (let y = 0, to = 0; y < 8; y++) {
    const from = Math.min(height - 1, row + y) * width + column
    for (let x = 0; x < 8; x++, to++)
      block[to] = data[isInside ? from + x : from + Math.min(width - 1 - column, x)]! - 128
  }
}

const ROOT_HALF = Math.SQRT1_2
const SMALL = Math.cos((3 * Math.PI) / 8)
const DIFFERENCE = Math.cos(Math.PI / 8) - SMALL
const SUM = Math.cos(Math.PI / 8) + SMALL

/**
 * Transforms 8 values in place with five multiplications (Arai, Agui and Nakajima 1988; libjpeg's jfdctflt.c). Each frequency is
 * scaled by `AAN_SCALES`.
 */
function transformLine(block: Float64Array, at: number, step: number): void {
  const at1 = at + step
  const at2 = at1 + step
  const at3 = at2 + step
  const at4 = at3 + step
  const at5 = at4 + step
  const at6 = at5 + step
  const at7 = at6 + step
  const sum07 = block[at]! + block[at7]!
  const sum16 = block[at1]! + block[at6]!
  const sum25 = block[at2]! + block[at5]!
  const sum34 = block[at3]! + block[at4]!
  const odd0 = block[at]! - block[at7]!
  const odd1 = block[at1]! - block[at6]!
  const odd2 = block[at2]! - block[at5]!
  const odd3 = block[at3]! - block[at4]!

  const even0 = sum07 + sum34
  const even3 = sum07 - sum34
  const even1 = sum16 + sum25
  const turned = (sum16 - sum25 + even3) * ROOT_HALF
  block[at] = even0 + even1
  block[at4] = even0 - even1
  block[at2] = even3 + turned
  block[at6] = even3 - turned

  const a = odd3 + odd2
  const b = (odd2 + odd1) * ROOT_HALF
  const c = odd1 + odd0
  const common = (a - c) * SMALL
  const low = DIFFERENCE * a + common
  const high = SUM * c + common
  const plus = odd0 + b
  const minus = odd0 - b
  block[at5] = minus + low
  block[at3] = minus - low
  block[at1] = plus + high
  block[at7] = plus - high
}

/** By frequency: factor of `transformLine`, relative to an orthonormal transform. */
const AAN_SCALES = Float64Array.from({ length: 8 }, (_, frequency) =>
  frequency === 0 ? Math.sqrt(8) : 4 * Math.cos((frequency * Math.PI) / 16),
)

/** With a triangular filter, or only cropped if the plane is at most a sample larger. */
export function resizedPlane(plane: Plane, size: { width: number; height: number }): Plane {
  const { data, width, height } = plane
  const isClose = (from: number, to: number) => from === to || from === to + 1
  if (isClose(width, size.width) && isClose(height, size.height)) return cropped(plane, size)
  const rows = resizedRows(data, width, height, size.width)
  return { data: resizedColumns(rows, size.width, height, size.height), ...size }
}

interface Weights {
  /** By position in the result: the first sample that counts, and the index of its weight. */
  first: Int32Array
  starts: Int32Array
  weights: Float64Array
}

function weightsOf(from: number, to: number): Weights {
  const ratio = from / to
  const radius = Math.max(1, ratio)
  const first = new Int32Array(to)
  const starts = new Int32Array(to + 1)
  const weights: number[] = []
  for (let index = 0; index < to; index++) {
    const centre = (index + 0.5) * ratio - 0.5
    const low = Math.max(0, Math.ceil(centre - radius))
    const high = Math.min(from - 1, Math.floor(centre + radius))
    first[index] = low
    starts[index] = weights.length
    const own = Array.from({ length: high - low + 1 }, (_, i) => radius - Math.abs(low + i - centre))
    const sum = own.reduce((all, weight) => all + weight, 0)
    weights.push(...own.map((weight) => weight / sum))
  }
  starts[to] = weights.length
  return { first, starts, weights: Float64Array.from(weights) }
}

function resizedRows(data: Uint8ClampedArray, width: number, height: number, toWidth: number): Float32Array {
  const { first, starts, weights } = weightsOf(width, toWidth)
  const rows = new Float32Array(toWidth * height)
  for (let row = 0; row < height; row++) {
    for (let x = 0; x < toWidth; x++) {
      let sum = 0
      for (let weight = starts[x]!, at = row * width + first[x]!; weight < starts[x + 1]!; weight++, at++)
        sum += weights[weight]! * data[at]!
      rows[row * toWidth + x] = sum
    }
  }
  return rows
}

function resizedColumns(
  rows: Float32Array,
  width: number,
  height: number,
  toHeight: number,
): Uint8ClampedArray {
  const { first, starts, weights } = weightsOf(height, toHeight)
  const data = new Uint8ClampedArray(width * toHeight)
  const sums = new Float32Array(width)
  for (let y = 0; y < toHeight; y++) {
    sums.fill(0)
    for (let weight = starts[y]!, row = first[y]!; weight < starts[y + 1]!; weight++, row++) {
      const factor = weights[weight]!
      for (let x = 0, at = row * width; x < width; x++, at++) sums[x]! += factor * rows[at]!
    }
    data.set(sums, y * width)
  }
  return data
}
