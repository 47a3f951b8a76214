/** The browser's own codecs, used only where its canvas returns pixels unaltered (docs/decisions/010). Runs in a worker. */
import { type Pixels, sampleTiles } from './pixels.ts'

/**
 * Decodes an image as displayed, into sRGB or Display P3, e.g. HEIC, JPEG XL and TIFF in Safari. `null` if this browser can't
 * decode the file, lacks the colour space, or alters canvas pixels.
 */
export async function decodedByPlatform(
  file: Blob,
  { wideColour, maxPixels }: { wideColour: boolean; maxPixels: number },
): Promise<Pixels | null> {
  return withBitmap(await bitmapOf(file), (bitmap) => {
    const { width, height } = bitmap
    if (width * height > maxPixels) return null
    const colorSpace = wideColour ? 'display-p3' : 'srgb'
    const context = new OffscreenCanvas(width, height).getContext('2d', {
      colorSpace,
      willReadFrequently: true,
    })
    if (context?.createImageData(1, 1).colorSpace !== colorSpace || !isCanvasFaithful(context)) return null
    context.clearRect(0, 0, width, height)
    context.drawImage(bitmap, 0, 0)
    return read(context, bitmap)
  })
}

/** Closes the bitmap after `use`. `null` without a bitmap, or if `use` throws. */
function withBitmap<T>(bitmap: ImageBitmap | null, use: (bitmap: ImageBitmap) => T): T | null {
  if (bitmap === null) return null
  try {
    return use(bitmap)
  } catch {
    return null
  } finally {
    bitmap.close()
  }
}

/** `null` if this browser can't decode the file. */
async function bitmapOf(file: Blob): Promise<ImageBitmap | null> {
  if (typeof OffscreenCanvas === 'undefined' || typeof createImageBitmap === 'undefined') return null
  return createImageBitmap(file).catch(() => null)
}

const JPEG = { type: 'image/jpeg' }

/**
 * Decodes a JPEG without a profile. In Firefox, a worker's `createImageBitmap` decodes on the page's main thread and blocks it,
 * but `ImageDecoder` does not. In Chromium, `ImageDecoder` returns YUV frames, which are slower to turn into a bitmap.
 */
function bitmapOfJpeg(data: Uint8Array<ArrayBuffer>): Promise<ImageBitmap | null> {
  return navigator.userAgent.includes('Firefox/') && typeof ImageDecoder !== 'undefined'
    ? decodedInWorker(data).catch(() => null)
    : bitmapOf(new Blob([data], JPEG))
}

async function decodedInWorker(data: Uint8Array<ArrayBuffer>): Promise<ImageBitmap> {
  const decoder = new ImageDecoder({ data, ...JPEG })
  try {
    const { image } = await decoder.decode()
    return await createImageBitmap(image).finally(() => image.close())
  } finally {
    decoder.close()
  }
}

/**
 * Whether a canvas returns the pixels that were drawn. Browsers that resist fingerprinting alter them, and an oversized canvas
 * reads as blank.
 */
function isCanvasFaithful(context: OffscreenCanvasRenderingContext2D): boolean {
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

/** An image that the browser's own JPEG encoder can encode: a tenth of our codec's work, for a tenth more bytes. */
export interface DecodedImage {
  width: number
  height: number
  /** A representative sample. `null` if the image is too small to need one. */
  sample(): Pixels | null
  /** The image in another size. */
  resized(size: Size): ResizedImage | null
  /**
   * `quality`: the browser's, 0 to 1. `null` if the browser can't encode a JPEG of this size. Consumes the image: call it once,
   * after `sample` and `resized`.
   */
  encode(quality: number): Promise<Uint8Array<ArrayBuffer> | null>
  close(): void
}

export interface ResizedImage {
  /** May be called repeatedly. */
  encode(quality: number): Promise<Uint8Array<ArrayBuffer> | null>
  close(): void
}

interface Size {
  width: number
  height: number
}

/** Canvas size that every browser can encode. iOS fails on larger ones. */
const SAFE_CANVAS_PIXELS = 4096 ** 2

/**
 * Decodes a JPEG with the browser's codec. `jpeg`: without a profile, so that no colour conversion happens. `isRotated`: has an
 * Exif orientation other than 1. `null` if the canvas is not faithful.
 *
 * Encodes the decoded bitmap directly, through a `bitmaprenderer` context. Drawing it on a 2D canvas would need a second copy of
 * the pixels, and in Firefox a third for reading them back; allocating these takes as long as decoding.
 */
export async function decodeWithPlatform(
  jpeg: Uint8Array<ArrayBuffer>,
  isRotated: boolean,
): Promise<DecodedImage | null> {
  const bitmap = await bitmapOfJpeg(jpeg)
  if (bitmap === null) return null
  const { width, height } = bitmap
  if (!hasFaithfulCanvas(width * height <= SAFE_CANVAS_PIXELS ? undefined : bitmap)) {
    bitmap.close()
    return null
  }
  const canvas = new OffscreenCanvas(width, height)
  return {
    width,
    height,
    sample() {
      const sample = sampleTiles(width, height)
      const small = sample && canvasOf(sample)
      if (!small) return null
      const { tileWidth, tileHeight, tiles } = sample
      for (const { x, y, toX, toY } of tiles)
        small.context.drawImage(bitmap, x, y, tileWidth, tileHeight, toX, toY, tileWidth, tileHeight)
      return read(small.context, sample)
    },
    resized(size) {
      const small = canvasOf(size)
      if (!small) return null
      small.context.imageSmoothingQuality = 'high'
      small.context.drawImage(bitmap, 0, 0, size.width, size.height)
      return { encode: (quality) => encoded(small.canvas, quality), close: () => release(small.canvas) }
    },
    async encode(quality) {
      // Chromium would encode a rotated bitmap as stored, not as displayed.
      const renderer = isRotated ? null : canvas.getContext('bitmaprenderer')
      try {
        if (renderer) renderer.transferFromImageBitmap(bitmap)
        else contextOf(canvas)?.drawImage(bitmap, 0, 0)
      } catch {
        return null
      }
      bitmap.close()
      return encoded(canvas, quality)
    },
    close() {
      bitmap.close()
      release(canvas)
    },
  }
}

/** Checks `isCanvasFaithful` on a new canvas of this size. False if the browser has no memory for one. */
export function hasFaithfulCanvas(size: Size = { width: 16, height: 16 }): boolean {
  const made = canvasOf(size)
  if (made === null) return false
  try {
    return isCanvasFaithful(made.context)
  } catch {
    return false
  } finally {
    release(made.canvas)
  }
}

/** Encodes and decodes `pixels` with the browser's codec: encoded size, and resulting pixels. `null` if it can't encode JPEG. */
export async function roundTrip(
  { data, width, height }: Pixels,
  quality: number,
): Promise<{ bytes: number; pixels: Pixels } | null> {
  const { canvas, context } = canvasOf({ width, height }) ?? {}
  if (!canvas || !context) return null
  context.putImageData(new ImageData(new Uint8ClampedArray(data), width, height), 0, 0)
  const jpeg = await encoded(canvas, quality)
  if (jpeg === null) return null
  return withBitmap(await bitmapOfJpeg(jpeg), (bitmap) => {
    context.drawImage(bitmap, 0, 0)
    return { bytes: jpeg.length, pixels: read(context, { width, height }) }
  })
}

function canvasOf({ width, height }: Size) {
  const canvas = new OffscreenCanvas(width, height)
  const context = contextOf(canvas)
  return context && { canvas, context }
}

function contextOf(canvas: OffscreenCanvas): OffscreenCanvasRenderingContext2D | null {
  return canvas.getContext('2d', { alpha: false, willReadFrequently: true })
}

/** `null` if the browser can't encode JPEG. */
async function encoded(canvas: OffscreenCanvas, quality: number): Promise<Uint8Array<ArrayBuffer> | null> {
  const blob = await canvas.convertToBlob({ ...JPEG, quality })
  return blob.type === JPEG.type ? new Uint8Array(await blob.arrayBuffer()) : null
}

function release(canvas: OffscreenCanvas): void {
  canvas.width = canvas.height = 0
}

function read(context: OffscreenCanvasRenderingContext2D, { width, height }: Size): Pixels {
  return { data: context.getImageData(0, 0, width, height).data, width, height }
}
