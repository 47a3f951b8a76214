/** Pictures by the browser's own codecs, where its canvas gives back what is drawn (docs/decisions/010). Runs in a worker. */
import { type Pixels, sampleTiles } from './pixels.ts'

/**
 * A picture as displayed, in the colours asked for, e.g. in Safari HEIC, JPEG XL and TIFF. `null` if this browser can't decode
 * the file, has no such colours, or changes what is drawn.
 */
export function decodedByPlatform(
  file: Blob,
  { wideColour, maxPixels }: { wideColour: boolean; maxPixels: number },
): Promise<Pixels | null> {
  return withBitmap(file, (bitmap) => {
    const { width, height } = bitmap
    if (width * height > maxPixels) return null
    const colorSpace = wideColour ? 'display-p3' : 'srgb'
    const context = new OffscreenCanvas(width, height).getContext('2d', {
      colorSpace,
      willReadFrequently: true,
    })
    if (context?.createImageData(1, 1).colorSpace !== colorSpace || !canvasIsTrue(context)) return null
    context.clearRect(0, 0, width, height)
    context.drawImage(bitmap, 0, 0)
    return read(context, bitmap)
  })
}

/** `null` if this browser can't decode the file, or `use` throws. */
async function withBitmap<T>(file: Blob, use: (bitmap: ImageBitmap) => T): Promise<T | null> {
  if (typeof OffscreenCanvas === 'undefined' || typeof createImageBitmap === 'undefined') return null
  const bitmap = await createImageBitmap(file).catch(() => null)
  if (bitmap === null) return null
  try {
    return use(bitmap)
  } catch {
    return null
  } finally {
    bitmap.close()
  }
}

/**
 * Whether what is drawn is what is read. Browsers that resist fingerprinting change pixels, and a canvas that is too large
 * reads as blank.
 */
function canvasIsTrue(context: OffscreenCanvasRenderingContext2D): boolean {
  const side = 16
  const image = context.createImageData(side, side)
  image.data.forEach((_, i) => {
    const row = Math.floor(i / (4 * side))
    image.data[i] = [row * 16, 255 - row * 16, row * 8, 255][i % 4]!
  })
  context.putImageData(image, 0, 0)
  const { data } = context.getImageData(0, 0, side, side)
  return data.every((value, i) => value === image.data[i])
}

/** A picture that the browser's own encoder can make a JPEG of: a tenth of our codec's work, for a tenth more bytes. */
export interface Drawn {
  width: number
  height: number
  pixels(): Pixels
  /** `null` if it is small enough to be read whole. */
  sample(): Pixels | null
  /** `quality`: the browser's, 0 to 1. `null` if it encodes no JPEG. */
  encode(quality: number): Promise<Uint8Array<ArrayBuffer> | null>
  /** The same picture in another size. */
  shrunk(size: Size): Drawn | null
  close(): void
}

interface Size {
  width: number
  height: number
}

/** `jpeg`: opaque, and without a profile, so that its values stay what they are. `null` where there is no true canvas. */
export function drawn(jpeg: Blob): Promise<Drawn | null> {
  return withBitmap(jpeg, (bitmap) => drawnOn(bitmap, bitmap))
}

/** What the browser's codec makes of `pixels`: so many bytes, and what comes back of them. `null` if it encodes no JPEG. */
export async function coded(
  { data, width, height }: Pixels,
  quality: number,
): Promise<{ bytes: number; pixels: Pixels } | null> {
  const { canvas, context } = contextOf({ width, height })
  context?.putImageData(new ImageData(new Uint8ClampedArray(data), width, height), 0, 0)
  const blob = await canvas.convertToBlob({ type: 'image/jpeg', quality })
  const again = blob.type === 'image/jpeg' ? await drawn(blob) : null
  return again && { bytes: blob.size, pixels: again.pixels() }
}

function drawnOn(source: ImageBitmap | OffscreenCanvas, { width, height }: Size): Drawn | null {
  const { canvas, context } = contextOf({ width, height })
  if (!context || !canvasIsTrue(context)) return null
  context.imageSmoothingQuality = 'high'
  context.drawImage(source, 0, 0, width, height)
  return {
    width,
    height,
    pixels: () => read(context, canvas),
    // Read at once: Firefox copies the whole canvas for each part that is read.
    sample() {
      const sample = sampleTiles(width, height)
      if (sample === null) return null
      const { tileWidth, tileHeight, tiles } = sample
      const small = contextOf(sample).context
      if (!small) return null
      for (const { x, y, toX, toY } of tiles)
        small.drawImage(canvas, x, y, tileWidth, tileHeight, toX, toY, tileWidth, tileHeight)
      return read(small, sample)
    },
    async encode(quality) {
      const blob = await canvas.convertToBlob({ type: 'image/jpeg', quality })
      return blob.type === 'image/jpeg' ? new Uint8Array(await blob.arrayBuffer()) : null
    },
    shrunk: (size) => drawnOn(canvas, size),
    close() {
      canvas.width = canvas.height = 0
    },
  }
}

function contextOf({ width, height }: Size) {
  const canvas = new OffscreenCanvas(width, height)
  return { canvas, context: canvas.getContext('2d', { alpha: false, willReadFrequently: true }) }
}

function read(context: OffscreenCanvasRenderingContext2D, { width, height }: Size): Pixels {
  return { data: context.getImageData(0, 0, width, height).data, width, height }
}
