/** Quantised DCT coefficients of a JPEG (ITU-T T.81), in the order of its blocks. */

/** One colour component of an image. */
export interface Component {
  id: number
  /** Sampling factors: blocks in an MCU, across and down. */
  horizontal: number
  vertical: number
  /** Quantisation steps, in zigzag order. */
  steps: Uint16Array
}

/** A JPEG as quantised DCT coefficients. */
export interface Coefficients {
  /** As stored. Unit: pixels. */
  width: number
  height: number
  components: Component[]
  /**
   * The nonzero coefficients, block by block in the order of an interleaved scan (A.2.3), each as value × 64 + index in zigzag
   * order. A block starts with its DC coefficient, even if that is zero.
   */
  coefficients: Int32Array
  /** Where each block starts in `coefficients`, and the end. */
  blockStarts: Int32Array
}

export type Geometry = Pick<Coefficients, 'width' | 'height' | 'components'>
export type Blocks = Pick<Coefficients, 'coefficients' | 'blockStarts'>

/** Maximum size of a DC difference and of a coefficient (table F.1, for 8-bit samples). Unit: bits. */
export const MAX_DC_BITS = 11

/** The component of each block in an MCU, in the order of an interleaved scan. */
export function blocksOfMcu(components: Component[]): number[] {
  return components.flatMap(({ horizontal, vertical }, index) => Array(horizontal * vertical).fill(index))
}

/** Size of an MCU, and the number of them. Unit: pixels. */
export function mcuGrid({ width, height, components }: Geometry) {
  const mcuWidth = 8 * Math.max(...components.map(({ horizontal }) => horizontal))
  const mcuHeight = 8 * Math.max(...components.map(({ vertical }) => vertical))
  return { mcuWidth, mcuHeight, across: Math.ceil(width / mcuWidth), down: Math.ceil(height / mcuHeight) }
}

/**
 * MCUs, blocks or symbols that one call processes. Engines compile a function once if it is called often, but anew for each image
 * if it loops over the whole of it (on-stack replacement).
 */
export const BATCH = 100

/** Calls `work` for consecutive parts of a pass over an image. */
export function forBatches(total: number, work: (first: number, end: number) => void): void {
  for (let first = 0; first < total; first += BATCH) work(first, Math.min(total, first + BATCH))
}
