/** Pictures that the service does not take, decoded by the browser where it can (Safari: HEIC, JPEG XL and TIFF). */
import type { Pixels } from './pixels.ts'

/**
 * As displayed, in the colours asked for. `null` if this browser can't decode the file, has no such colours, or changes
 * what is drawn. Runs in a worker.
 */
export async function decodedByPlatform(
  file: Blob,
  { wideColour, maxPixels }: { wideColour: boolean; maxPixels: number },
): Promise<Pixels | null> {
  if (typeof OffscreenCanvas === 'undefined' || typeof createImageBitmap === 'undefined') return null
  const bitmap = await createImageBitmap(file).catch(() => null)
  if (bitmap === null) return null
  const { width, height } = bitmap
  try {
    if (width * height > maxPixels) return null
    const colorSpace = wideColour ? 'display-p3' : 'srgb'
    const context = new OffscreenCanvas(width, height).getContext('2d', {
      colorSpace,
      willReadFrequently: true,
    })
    if (context?.createImageData(1, 1).colorSpace !== colorSpace || !canvasIsTrue(context)) return null
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
 * Whether what is drawn is what is read. Browsers that resist fingerprinting change pixels, and a canvas that is too large
 * reads as blank (docs/decisions/010).
 */
export function canvasIsTrue(context: OffscreenCanvasRenderingContext2D): boolean {
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
