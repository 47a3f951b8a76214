/** Decoded pixels: red, green, blue, alpha, 8 bits each, row by row; alpha is not multiplied in. */
export interface Pixels {
  data: Uint8Array | Uint8ClampedArray
  width: number
  height: number
}

export function isOpaque({ data }: Pixels): boolean {
  for (let i = 3; i < data.length; i += 4) if (data[i] !== 255) return false
  return true
}

/** Turns and mirrors as Exif orientation 1 to 8 says (TIFF 6.0, tag 274), so that 1 remains. */
export function oriented(pixels: Pixels, orientation: number): Pixels {
  if (orientation <= 1 || orientation > 8) return pixels
  const { width, height, data } = pixels
  // Where the stored row and column of a displayed pixel run: backwards, or swapped with each other.
  const swap = orientation >= 5
  const flipX = orientation === 2 || orientation === 3 || orientation === 7 || orientation === 8
  const flipY = orientation === 3 || orientation === 4 || orientation === 6 || orientation === 7
  const [outWidth, outHeight] = swap ? [height, width] : [width, height]
  const from = new Uint32Array(data.buffer, data.byteOffset, width * height)
  const to = new Uint32Array(width * height)
  for (let y = 0, at = 0; y < outHeight; y++) {
    for (let x = 0; x < outWidth; x++, at++) {
      const column = swap ? y : x
      const row = swap ? x : y
      to[at] = from[(flipY ? height - 1 - row : row) * width + (flipX ? width - 1 - column : column)]!
    }
  }
  return { data: new Uint8Array(to.buffer), width: outWidth, height: outHeight }
}

/** Rows that a JPEG encoder takes at a time, with colour halved. */
const BAND_ROWS = 16
const SAMPLED = 6
/** More pixels in a sample would say no more. */
const ENOUGH_PIXELS = 250_000
/** Fewer bands in a sample would say little. */
const MIN_BANDS = 4

/**
 * Every sixth band of 16 rows, put together: a small picture that is like the whole. Of a large picture fewer; or the
 * whole, if it is small.
 */
export function sampled(pixels: Pixels): Pixels {
  const { data, width, height } = pixels
  const step = Math.max(
    SAMPLED,
    Math.min(Math.floor((width * height) / ENOUGH_PIXELS), Math.floor(height / BAND_ROWS / MIN_BANDS)),
  )
  const bands = Math.floor(height / BAND_ROWS / step)
  if (bands < MIN_BANDS) return pixels
  const bytes = 4 * width * BAND_ROWS
  const sample = new Uint8Array(bands * bytes)
  for (let band = 0; band < bands; band++) {
    const from = (band * step + (step >> 1)) * bytes
    sample.set(data.subarray(from, from + bytes), band * bytes)
  }
  return { data: sample, width, height: bands * BAND_ROWS }
}
