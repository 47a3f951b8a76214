/** Decoded pixels: 8-bit RGBA in row order, with straight (not premultiplied) alpha. */
export interface Pixels {
  data: Uint8Array | Uint8ClampedArray
  width: number
  height: number
}

/** ANDs all pixels of a row before testing: a branch per pixel would take three times as long. */
export function isOpaque(pixels: Pixels): boolean {
  const { data: words, width } = wordsOf(pixels)
  for (let start = 0; start < words.length; start += width) {
    let all = -1
    for (let i = start; i < start + width; i++) all &= words[i]!
    if (all >>> 24 !== 255) return false
  }
  return true
}

/** Applies Exif orientation 1 to 8 (TIFF 6.0, tag 274), so that the result has orientation 1. */
export function oriented(pixels: Pixels, orientation: number): Pixels {
  const words = wordsOf(pixels)
  const result = orientedArea(words, orientation)
  if (result === words) return pixels
  return { ...result, data: new Uint8Array(result.data.buffer) }
}

export interface Area<T> {
  /** One element per pixel. */
  data: T
  width: number
  height: number
}

/** The same memory, one word per pixel. */
export function wordsOf({ data, width, height }: Pixels): Area<Uint32Array> {
  return { data: new Uint32Array(data.buffer, data.byteOffset, width * height), width, height }
}

/** Like `oriented`. Returns the same data if there is nothing to do. */
export function orientedArea<T extends Uint8ClampedArray | Uint32Array>(
  area: Area<T>,
  orientation: number,
): Area<T> {
  if (orientation <= 1 || orientation > 8) return area
  const { width, height, data: from } = area
  // How stored rows and columns map to displayed ones: swapped, reversed, or both.
  const swap = orientation >= 5
  const flipX = orientation === 2 || orientation === 3 || orientation === 7 || orientation === 8
  const flipY = orientation === 3 || orientation === 4 || orientation === 6 || orientation === 7
  const [outWidth, outHeight] = swap ? [height, width] : [width, height]
  const to = from.slice() as T
  for (let y = 0, at = 0; y < outHeight; y++) {
    for (let x = 0; x < outWidth; x++, at++) {
      const column = swap ? y : x
      const row = swap ? x : y
      to[at] = from[(flipY ? height - 1 - row : row) * width + (flipX ? width - 1 - column : column)]!
    }
  }
  return { data: to, width: outWidth, height: outHeight }
}

/** Side of a JPEG MCU with 4:2:0 chroma. */
const MCU_PIXELS = 16
/** A tile of a sample: adjacent MCUs. */
const TILE_WIDTH = 4 * MCU_PIXELS
/** Tiles in a row of a sample. */
const TILES_ACROSS = 16
/** At most one tile in this many is sampled. */
const MIN_STEP = 8
/** A larger sample would not be more accurate. */
const ENOUGH_PIXELS = 160_000
/** Horizontal offset from one row's tiles to the next, so that samples cover all columns. */
const STAGGER = 3

/**
 * A small image that is representative of the whole: every eighth tile of 64 × 16 pixels (fewer in large images). The whole
 * image if it is small.
 */
export function sampled(pixels: Pixels): Pixels {
  const columns = Math.floor(pixels.width / TILE_WIDTH)
  const rows = Math.floor(pixels.height / MCU_PIXELS)
  const step = Math.max(MIN_STEP, Math.floor((pixels.width * pixels.height) / ENOUGH_PIXELS))
  const bands = Math.floor((columns * rows) / step / TILES_ACROSS)
  if (bands < 2) return pixels
  const [width, height] = [TILES_ACROSS * TILE_WIDTH, bands * MCU_PIXELS]
  const data = new Uint8Array(4 * width * height)
  for (let tile = 0; tile < bands * TILES_ACROSS; tile++) {
    const row = Math.floor((tile * step) / columns)
    const column = (tile * step + row * STAGGER) % columns
    const toX = (tile % TILES_ACROSS) * TILE_WIDTH
    const toY = Math.floor(tile / TILES_ACROSS) * MCU_PIXELS
    for (let line = 0; line < MCU_PIXELS; line++) {
      const from = 4 * ((row * MCU_PIXELS + line) * pixels.width + column * TILE_WIDTH)
      data.set(pixels.data.subarray(from, from + 4 * TILE_WIDTH), 4 * ((toY + line) * width + toX))
    }
  }
  return { data, width, height }
}

const STRIP_ROWS = 16
const STRIP_SHARE = 1 / 12

/** A twelfth of the image: strips of whole rows, because lossless coding refers to pixels above and to the left. */
export function sampledRows({ data, width, height }: Pixels): Pixels {
  const strips = Math.max(2, Math.round((height * STRIP_SHARE) / STRIP_ROWS))
  if (strips * STRIP_ROWS >= height) return { data, width, height }
  const length = 4 * width * STRIP_ROWS
  const sample = new Uint8Array(strips * length)
  for (let strip = 0; strip < strips; strip++) {
    const row = Math.floor(((strip + 0.5) * height) / strips - STRIP_ROWS / 2)
    sample.set(data.subarray(4 * width * row, 4 * width * row + length), strip * length)
  }
  return { data: sample, width, height: strips * STRIP_ROWS }
}
