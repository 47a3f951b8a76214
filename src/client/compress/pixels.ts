/** Decoded pixels: red, green, blue, alpha, 8 bits each, row by row; alpha is not multiplied in. */
export interface Pixels {
  data: Uint8Array | Uint8ClampedArray
  width: number
  height: number
}

/** Looked at together, a row at a time: a branch for each pixel would take three times as long. */
export function isOpaque({ data, width, height }: Pixels): boolean {
  const words = new Uint32Array(data.buffer, data.byteOffset, width * height)
  for (let start = 0; start < words.length; start += width) {
    let all = -1
    for (let i = start; i < start + width; i++) all &= words[i]!
    if (all >>> 24 !== 255) return false
  }
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

/** What a JPEG encoder takes at a time, with colour halved. */
const UNIT = 16
/** A tile of a sample: units side by side. */
const TILE_WIDTH = 4 * UNIT
/** Tiles in a row of a sample. */
const TILES_ACROSS = 16
/** One of so many tiles is taken. */
const SAMPLED = 8
/** More pixels in a sample would say no more. */
const ENOUGH_PIXELS = 160_000
/** How far the next row's tiles are from those above: every column has its turn. */
const STAGGER = 3

/** Where the tiles of a sample are in the picture (`x`, `y`) and in the sample (`toX`, `toY`). Unit: pixels. */
interface SampleTiles {
  width: number
  height: number
  tileWidth: number
  tileHeight: number
  tiles: { x: number; y: number; toX: number; toY: number }[]
}

/**
 * Every eighth tile of 64 by 16 pixels, put together: a small picture that is like the whole. Fewer of a large picture. `null` if
 * it is small enough to be read whole.
 */
export function sampleTiles(width: number, height: number): SampleTiles | null {
  const columns = Math.floor(width / TILE_WIDTH)
  const rows = Math.floor(height / UNIT)
  const step = Math.max(SAMPLED, Math.floor((width * height) / ENOUGH_PIXELS))
  const bands = Math.floor((columns * rows) / step / TILES_ACROSS)
  if (bands < 2) return null
  const tiles = Array.from({ length: bands * TILES_ACROSS }, (_, tile) => {
    const row = Math.floor((tile * step) / columns)
    const column = (tile * step + row * STAGGER) % columns
    return {
      x: column * TILE_WIDTH,
      y: row * UNIT,
      toX: (tile % TILES_ACROSS) * TILE_WIDTH,
      toY: Math.floor(tile / TILES_ACROSS) * UNIT,
    }
  })
  return {
    width: TILES_ACROSS * TILE_WIDTH,
    height: bands * UNIT,
    tileWidth: TILE_WIDTH,
    tileHeight: UNIT,
    tiles,
  }
}

/** The sample of a picture, or the whole, if it is small. */
export function sampled(pixels: Pixels): Pixels {
  const sample = sampleTiles(pixels.width, pixels.height)
  if (sample === null) return pixels
  const { width, height, tileWidth, tileHeight, tiles } = sample
  const data = new Uint8Array(4 * width * height)
  for (const { x, y, toX, toY } of tiles) {
    for (let line = 0; line < tileHeight; line++) {
      const from = 4 * ((y + line) * pixels.width + x)
      data.set(pixels.data.subarray(from, from + 4 * tileWidth), 4 * ((toY + line) * width + toX))
    }
  }
  return { data, width, height }
}
