/** Chroma subsampling: where it would be visible, and how to compensate for the loss of each generation. */
import type { Pixels } from './pixels.ts'

/** One row of chroma samples (Cb, Cr), each the mean of a 2 × 2 block. */
interface ChromaRow {
  cb: Float32Array
  cr: Float32Array
  /** The same samples, blurred along the row. */
  cbBlurred: Float32Array
  crBlurred: Float32Array
}

/**
 * Pre-sharpens chroma in place, to compensate for the blur of another 4:2:0 generation.
 *
 * A decoder spreads each chroma sample over its neighbours (libjpeg's "fancy upsampling", weights 1 and 3), and an encoder
 * averages 2 × 2 blocks. Together they blur by 1 6 1 in both directions. The loss from that blur is added to the pixels
 * beforehand: one step of Van Cittert deconvolution. Luma and alpha don't change.
 */
export function restoreChroma({ data, width, height }: Pixels): void {
  const columns = width >> 1
  const rows = height >> 1
  if (columns === 0 || rows === 0) return
  const bytes = new Uint8ClampedArray(data.buffer, data.byteOffset, data.length)
  const stride = 4 * width
  const read = (row: number, into: ChromaRow) =>
    readRow(bytes, Math.min(row, rows - 1) * 2 * stride, stride, into)
  let above = read(0, newRow(columns))
  let current = read(0, newRow(columns))
  let below = newRow(columns)
  for (let row = 0; row < rows; row++) {
    // Must run before this row is modified, because the last row is its own lower neighbour.
    read(row + 1, below)
    for (let column = 0, at = row * 2 * stride; column < columns; column++, at += 8) {
      const cb =
        current.cb[column]! -
        blur(above.cbBlurred[column]!, current.cbBlurred[column]!, below.cbBlurred[column]!)
      const cr =
        current.cr[column]! -
        blur(above.crBlurred[column]!, current.crBlurred[column]!, below.crBlurred[column]!)
      // Would change every channel by less than half a level.
      if (cb < 0.28 && cb > -0.28 && cr < 0.35 && cr > -0.35) continue
      shift(bytes, at, cb, cr)
      shift(bytes, at + 4, cb, cr)
      shift(bytes, at + stride, cb, cr)
      shift(bytes, at + stride + 4, cb, cr)
    }
    const recycled = above
    above = current
    current = below
    below = recycled
  }
}

function newRow(columns: number): ChromaRow {
  const plane = () => new Float32Array(columns)
  return { cb: plane(), cr: plane(), cbBlurred: plane(), crBlurred: plane() }
}

function blur(previous: number, current: number, next: number): number {
  return (previous + 6 * current + next) / 8
}

/** `at`: offset of the upper of two pixel rows. */
function readRow(bytes: Uint8ClampedArray, at: number, stride: number, row: ChromaRow): ChromaRow {
  const { cb, cr } = row
  for (let column = 0, i = at; column < cb.length; column++, i += 8) {
    const j = i + stride
    const red = bytes[i]! + bytes[i + 4]! + bytes[j]! + bytes[j + 4]!
    const green = bytes[i + 1]! + bytes[i + 5]! + bytes[j + 1]! + bytes[j + 5]!
    const blue = bytes[i + 2]! + bytes[i + 6]! + bytes[j + 2]! + bytes[j + 6]!
    // The JFIF matrix, scaled for the sum of four pixels.
    cb[column] = -0.042184 * red - 0.082816 * green + 0.125 * blue
    cr[column] = 0.125 * red - 0.104672 * green - 0.020328 * blue
  }
  blurInto(row.cbBlurred, cb)
  blurInto(row.crBlurred, cr)
  return row
}

function blurInto(blurred: Float32Array, samples: Float32Array): void {
  const last = samples.length - 1
  for (let i = 0; i <= last; i++) {
    blurred[i] = blur(samples[i === 0 ? 0 : i - 1]!, samples[i]!, samples[i === last ? last : i + 1]!)
  }
}

/** `Uint8ClampedArray` rounds and clamps. */
function shift(bytes: Uint8ClampedArray, at: number, cb: number, cr: number): void {
  bytes[at] = bytes[at]! + 1.402 * cr
  bytes[at + 1] = bytes[at + 1]! - 0.344136 * cb - 0.714136 * cr
  bytes[at + 2] = bytes[at + 2]! + 1.772 * cb
}

/** Chroma difference within a 2 × 2 block that is visible on its own. Unit: levels of 255. */
const VISIBLE = 20

/**
 * Share of the 2 × 2 blocks in which halving the chroma resolution would be visible: coloured text and lines, saturated edges.
 * Camera photographs rarely have such detail.
 */
export function fineColourShare({ data, width, height }: Pixels): number {
  const stride = 4 * width
  let fine = 0
  let blocks = 0
  for (let row = 0; row + 1 < height; row += 2) {
    for (let column = 0, at = row * stride; column + 1 < width; column += 2, at += 8) {
      if (spread(data, at, stride) > VISIBLE) fine++
      blocks++
    }
  }
  return fine / Math.max(1, blocks)
}

/** Range of Cb or Cr within a 2 × 2 block, whichever is larger. */
function spread(data: Pixels['data'], at: number, stride: number): number {
  let [minBlue, maxBlue, minRed, maxRed] = [255, -255, 255, -255]
  for (const i of [at, at + 4, at + stride, at + stride + 4]) {
    const red = data[i] ?? 0
    const green = data[i + 1] ?? 0
    const blue = data[i + 2] ?? 0
    const cb = 0.5 * blue - 0.168736 * red - 0.331264 * green
    const cr = 0.5 * red - 0.418688 * green - 0.081312 * blue
    minBlue = Math.min(minBlue, cb)
    maxBlue = Math.max(maxBlue, cb)
    minRed = Math.min(minRed, cr)
    maxRed = Math.max(maxRed, cr)
  }
  return Math.max(maxBlue - minBlue, maxRed - minRed)
}
