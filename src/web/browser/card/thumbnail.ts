/** Thumbnails for cards. They never leave this device; uploaded bytes never pass through a canvas. */
import { hasFaithfulCanvas } from '../../../client/compress/platform.ts'

/** Twice the size at which cards show it. Unit: pixels. */
const SIDE = 176

/** Aspect ratio above which a panorama stays a strip: scaled to full height, it would be huge. */
const MAX_CROPPED_RATIO = 16

let last: Promise<unknown> = Promise.resolve()

/** Thumbnail of `file`, or `null` if this browser falsifies canvas pixels. Runs one at a time, in order. */
export function thumbnailOf(file: Blob): Promise<Blob | null> {
  const thumbnail = last.then(() => render(file)).catch(() => null)
  last = thumbnail
  return thumbnail
}

async function render(file: Blob): Promise<Blob | null> {
  if (!hasFaithfulCanvas()) return null
  // The browser scales while decoding, off the main thread.
  let picture = await createImageBitmap(file, { resizeWidth: SIDE, resizeQuality: 'medium' })
  // A panorama would become a strip, stretched to fill the card's square: crop its middle at full height instead.
  if (picture.height < SIDE / 2 && picture.height * MAX_CROPPED_RATIO >= SIDE) {
    picture.close()
    picture = await createImageBitmap(file, { resizeHeight: SIDE, resizeQuality: 'medium' })
  }
  const height = Math.min(picture.height, SIDE * 2)
  const canvas = new OffscreenCanvas(SIDE, height)
  canvas.getContext('2d')!.drawImage(picture, (SIDE - picture.width) / 2, (height - picture.height) / 2)
  picture.close()
  return canvas.convertToBlob({ type: 'image/webp', quality: 0.8 })
}
