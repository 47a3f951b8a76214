/**
 * A JPEG by the browser's own codec: a tenth of the work of ours, for a tenth more bytes. Only where its canvas gives back
 * what is drawn (docs/decisions/010, 076).
 */
import { canvasIsTrue } from './platform-decoder.ts'

export interface Drawn {
  width: number
  height: number
  /** Red, green, blue, alpha of a part, row by row. */
  read(x: number, y: number, width: number, height: number): Uint8ClampedArray
  /** `quality`: the browser's, 0 to 1. `null` if it encodes no JPEG. */
  encode(quality: number): Promise<Uint8Array<ArrayBuffer> | null>
  close(): void
}

/** `jpeg`: opaque, and without a profile, so that its values stay what they are. `null` where there is no true canvas. */
export async function drawn(jpeg: Uint8Array): Promise<Drawn | null> {
  if (typeof OffscreenCanvas === 'undefined' || typeof createImageBitmap === 'undefined') return null
  const bitmap = await createImageBitmap(new Blob([jpeg as BlobPart], { type: 'image/jpeg' })).catch(
    () => null,
  )
  if (bitmap === null) return null
  const { width, height } = bitmap
  try {
    const canvas = new OffscreenCanvas(width, height)
    const context = canvas.getContext('2d', { alpha: false, willReadFrequently: true })
    if (!context || !canvasIsTrue(context)) return null
    context.drawImage(bitmap, 0, 0)
    return {
      width,
      height,
      read: (...part) => context.getImageData(...part).data,
      async encode(quality) {
        const blob = await canvas.convertToBlob({ type: 'image/jpeg', quality })
        return blob.type === 'image/jpeg' ? new Uint8Array(await blob.arrayBuffer()) : null
      },
      close() {
        canvas.width = canvas.height = 0
      },
    }
  } catch {
    return null
  } finally {
    bitmap.close()
  }
}
