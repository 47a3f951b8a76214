/** Pictures by the browser's own codecs, where its canvas gives back what is drawn (docs/decisions/010). Runs in a worker. */
import { type Pixels, sampleTiles } from './pixels.ts'

/**
 * A picture as displayed, in the colours asked for, e.g. in Safari HEIC, JPEG XL and TIFF. `null` if this browser can't decode
 * the file, has no such colours, or changes what is drawn.
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
    if (context?.createImageData(1, 1).colorSpace !== colorSpace || !canvasIsTrue(context)) return null
    context.clearRect(0, 0, width, height)
    context.drawImage(bitmap, 0, 0)
    return read(context, bitmap)
  })
}

/** `null` for no bitmap, or if `use` throws. */
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
 * The same for a JPEG without a profile. For a worker's `createImageBitmap` Firefox decodes on the page's thread, which stands still
 * for that time; for its `ImageDecoder` it does not. Chromium's gives frames of YUV, which take longer to become a bitmap.
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
  /** `null` if it is small enough to be read whole. */
  sample(): Pixels | null
  /** The same picture in another size. */
  shrunk(size: Size): Drawing | null
  /**
   * `quality`: the browser's, 0 to 1. `null` if it can't encode a JPEG of this size. Can be called once: it consumes the picture, so
   * the sample and other sizes come before it.
   */
  encode(quality: number): Promise<Uint8Array<ArrayBuffer> | null>
  close(): void
}

export interface Drawing {
  /** May be called many times. */
  encode(quality: number): Promise<Uint8Array<ArrayBuffer> | null>
  close(): void
}

interface Size {
  width: number
  height: number
}

/** Every browser encodes a canvas of so many pixels; iOS makes nothing of a larger one. */
const ANY_CANVAS_PIXELS = 4096 ** 2

/**
 * `jpeg`: opaque, and without a profile, so that its values stay what they are. `isTurned`: by Exif. `null` where there is no true
 * canvas.
 *
 * Encodes the decoded bitmap directly, through a `bitmaprenderer` context. To draw it on a 2D canvas of its size would need a second
 * copy of the pixels, and in Firefox a third one for reading them: allocating these takes as long as decoding.
 */
export async function drawn(jpeg: Uint8Array<ArrayBuffer>, isTurned: boolean): Promise<Drawn | null> {
  const bitmap = await bitmapOfJpeg(jpeg)
  if (bitmap === null) return null
  const { width, height } = bitmap
  if (!hasTrueCanvas(width * height <= ANY_CANVAS_PIXELS ? undefined : bitmap)) {
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
    shrunk(size) {
      const small = canvasOf(size)
      if (!small) return null
      small.context.imageSmoothingQuality = 'high'
      small.context.drawImage(bitmap, 0, 0, size.width, size.height)
      return { encode: (quality) => encoded(small.canvas, quality), close: () => release(small.canvas) }
    },
    async encode(quality) {
      // Chromium would encode a bitmap as it is stored, not as it is displayed.
      const renderer = isTurned ? null : canvas.getContext('bitmaprenderer')
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

/** As `canvasIsTrue`, for a new canvas of this size. A browser may also throw where it has no memory for one. */
export function hasTrueCanvas(size: Size = { width: 16, height: 16 }): boolean {
  const made = canvasOf(size)
  if (made === null) return false
  try {
    return canvasIsTrue(made.context)
  } catch {
    return false
  } finally {
    release(made.canvas)
  }
}

/** What the browser's codec makes of `pixels`: so many bytes, and what comes back of them. `null` if it encodes no JPEG. */
export async function coded(
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

/** `null` if the browser encodes no JPEG. */
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
