/**
 * Photographs that the service does not take and this browser may decode (Safari: all of these): it makes a JPEG of them,
 * fine enough to be compressed like a camera's.
 */
import { nameOfOther } from '../../formats/sniff.ts'
import type { ForeignType } from '../types.ts'

/** By what `nameOfOther` calls them. */
const TYPES: Record<string, ForeignType> = {
  'a HEIC image': 'image/heic',
  'a JPEG XL image': 'image/jxl',
  'a TIFF image or a raw photo': 'image/tiff',
}

/** As a good camera: nothing is seen to be lost. */
const QUALITY = 0.96
const SNIFFED_BYTES = 4096

/** `null` if the file is something else, or if this browser can't decode it, or not truly. */
export async function decodedByPlatform(file: Blob): Promise<{ jpeg: Blob; type: ForeignType } | null> {
  const head = new Uint8Array(await file.slice(0, SNIFFED_BYTES).arrayBuffer())
  const type = TYPES[nameOfOther(head) ?? '']
  if (type === undefined || typeof OffscreenCanvas === 'undefined') return null
  try {
    const bitmap = await createImageBitmap(file)
    try {
      const jpeg = await jpegOf(bitmap, 'display-p3')
      // Without a profile the browser drew into sRGB, or says nothing of P3: then the colours would be wrong.
      if (jpeg && (await hasProfile(jpeg))) return { jpeg, type }
      const plain = await jpegOf(bitmap, 'srgb')
      return plain && { jpeg: plain, type }
    } finally {
      bitmap.close()
    }
  } catch {
    return null
  }
}

async function jpegOf(bitmap: ImageBitmap, colorSpace: PredefinedColorSpace): Promise<Blob | null> {
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height)
  const context = canvas.getContext('2d', { alpha: false, colorSpace })
  if (!context || !isTrue(context)) return null
  context.drawImage(bitmap, 0, 0)
  const blob = await canvas.convertToBlob({ type: 'image/jpeg', quality: QUALITY })
  return blob.type === 'image/jpeg' ? blob : null
}

/**
 * Whether what is drawn is what is read. Browsers that resist fingerprinting change pixels, and a canvas that is too large
 * reads as blank (docs/decisions/010).
 */
function isTrue(context: OffscreenCanvasRenderingContext2D): boolean {
  const side = 16
  for (let row = 0; row < side; row++) {
    context.fillStyle = `rgb(${row * 16} ${255 - row * 16} ${row * 8})`
    context.fillRect(0, row, side, 1)
  }
  const { data } = context.getImageData(0, 0, side, side)
  return data.every((value, i) => {
    const row = Math.floor(i / (4 * side))
    return value === [row * 16, 255 - row * 16, row * 8, 255][i % 4]
  })
}

/** Segment APP2 of ICC.1, B.4, which encoders write near the start. */
async function hasProfile(jpeg: Blob): Promise<boolean> {
  return (await jpeg.slice(0, SNIFFED_BYTES).text()).includes('ICC_PROFILE')
}
