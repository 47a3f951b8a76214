/** Colour of a lower resolution than brightness: where it would show, and what is lost with each generation. */
import type { Pixels } from './pixels.ts'

/** One row of colour samples (Cb, Cr), each the mean of two pixels by two. */
interface ChromaRow {
  cb: Float32Array
  cr: Float32Array
  /** The same, blurred along the row. */
  cbBlurred: Float32Array
  crBlurred: Float32Array
}

/**
 * Gives colour the sharpness back that one more generation of 4:2:0 takes from it. In place.
 *
 * A decoder spreads each colour sample over its neighbours (libjpeg's "fancy upsampling", weights 1 and 3), and an
 * encoder takes the mean of two pixels by two: together a blur by 1 6 1 in both directions. What that blur takes from a
 * sample is added to its pixels beforehand, one step of Van Cittert's deconvolution. Brightness and alpha stay.
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
  let here = read(0, newRow(columns))
  let below = newRow(columns)
  for (let row = 0; row < rows; row++) {
    // Before this row changes: past the last row, this one counts as its own neighbour.
    read(row + 1, below)
    for (let column = 0, at = row * 2 * stride; column < columns; column++, at += 8) {
      const cb =
        here.cb[column]! - blur(above.cbBlurred[column]!, here.cbBlurred[column]!, below.cbBlurred[column]!)
      const cr =
        here.cr[column]! - blur(above.crBlurred[column]!, here.crBlurred[column]!, below.crBlurred[column]!)
      // Less than half a level in every channel.
      if (cb < 0.28 && cb > -0.28 && cr < 0.35 && cr > -0.35) continue
      shift(bytes, at, cb, cr)
      shift(bytes, at + 4, cb, cr)
      shift(bytes, at + stride, cb, cr)
      shift(bytes, at + stride + 4, cb, cr)
    }
    const spent = above
    above = here
    here = below
    below = spent
  }
}

function newRow(columns: number): ChromaRow {
  const plane = () => new Float32Array(columns)
  return { cb: plane(), cr: plane(), cbBlurred: plane(), crBlurred: plane() }
}

function blur(before: number, here: number, after: number): number {
  return (before + 6 * here + after) / 8
}

/** `at`: the first byte of the upper of two rows of pixels. */
function readRow(bytes: Uint8ClampedArray, at: number, stride: number, row: ChromaRow): ChromaRow {
  const { cb, cr } = row
  for (let column = 0, i = at; column < cb.length; column++, i += 8) {
    const j = i + stride
    const red = bytes[i]! + bytes[i + 4]! + bytes[j]! + bytes[j + 4]!
    const green = bytes[i + 1]! + bytes[i + 5]! + bytes[j + 1]! + bytes[j + 5]!
    const blue = bytes[i + 2]! + bytes[i + 6]! + bytes[j + 2]! + bytes[j + 6]!
    // JFIF's matrix, for the sum of four pixels.
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

/** The array rounds and clamps. */
function shift(bytes: Uint8ClampedArray, at: number, cb: number, cr: number): void {
  bytes[at] = bytes[at]! + 1.402 * cr
  bytes[at + 1] = bytes[at + 1]! - 0.344136 * cb - 0.714136 * cr
  bytes[at + 2] = bytes[at + 2]! + 1.772 * cb
}

/** A difference of colour within two pixels by two that is seen where it stands alone. Unit: levels of 255. */
const VISIBLE = 20
/** Share of all blocks of two by two. */
const MIN_SHARE = 0.01

/**
 * Whether a picture has colour so fine that halving its resolution would show: coloured letters and lines, saturated
 * edges. Photographs by a camera hardly have any.
 */
export function fineColourShows({ data, width, height }: Pixels): boolean {
  const stride = 4 * width
  let fine = 0
  let blocks = 0
  for (let row = 0; row + 1 < height; row += 2) {
    for (let column = 0, at = row * stride; column + 1 < width; column += 2, at += 8) {
      if (spread(data, at, stride) > VISIBLE) fine++
      blocks++
    }
  }
  return fine > MIN_SHARE * blocks
}

/** How far apart the colours of two pixels by two are: of Cb or of Cr, whichever differs more. */
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
