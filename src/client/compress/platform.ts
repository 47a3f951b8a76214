/** The browser's own codecs, used only where its canvas returns pixels unaltered (docs/decisions/010). Runs in a worker. */
import type { Pixels } from './pixels.ts'

/**
 * Decodes an image as displayed, into sRGB or Display P3, e.g. HEIC, JPEG XL and TIFF in Safari. `null` if this browser can't
 * decode the file, lacks the colour space, or alters canvas pixels.
 */
export async function decodedByPlatform(
  file: Blob,
  { wideColour, maxPixels }: { wideColour: boolean; maxPixels: number },
): Promise<Pixels | null> {
  if (typeof OffscreenCanvas === 'undefined' || typeof createImageBitmap === 'undefined') return null
  const bitmap = await createImageBitmap(file).catch(() => null)
  if (bitmap === null) return null
  try {
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
    return { data: context.getImageData(0, 0, width, height).data, width, height }
  } catch {
    return null
  } finally {
    bitmap.close()
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

/** Checks `isCanvasFaithful` on a new canvas. */
export function hasFaithfulCanvas(): boolean {
  const context = new OffscreenCanvas(16, 16).getContext('2d', { alpha: false, willReadFrequently: true })
  try {
    return context !== null && isCanvasFaithful(context)
  } catch {
    return false
  }
}
