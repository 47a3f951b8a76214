/** Small previews. They never leave this device; what is uploaded never touches a canvas. */
import { hasTrueCanvas } from '../../../client/compress/platform.ts'

/** Unit: pixels. Twice the size at which cards show it. */
const SIDE = 176

/** Wider ones stay strips: in the height of a thumbnail they would be huge. */
const MAX_TIMES_WIDER = 16

let last: Promise<unknown> = Promise.resolve()

/** A small picture of `file`, or `null` where this browser can't make a true one. One at a time, in order. */
export function thumbnailOf(file: Blob): Promise<Blob | null> {
  const made = last.then(() => make(file)).catch(() => null)
  last = made
  return made
}

async function make(file: Blob): Promise<Blob | null> {
  if (!hasTrueCanvas()) return null
  // The browser scales while it decodes, off this thread.
  let picture = await createImageBitmap(file, { resizeWidth: SIDE, resizeQuality: 'medium' })
  // A panorama would be a strip, stretched where the card fills its square: its middle is cut out in full height.
  if (picture.height < SIDE / 2 && picture.height * MAX_TIMES_WIDER >= SIDE) {
    picture.close()
    picture = await createImageBitmap(file, { resizeHeight: SIDE, resizeQuality: 'medium' })
  }
  const height = Math.min(picture.height, SIDE * 2)
  const canvas = new OffscreenCanvas(SIDE, height)
  canvas.getContext('2d')!.drawImage(picture, (SIDE - picture.width) / 2, (height - picture.height) / 2)
  picture.close()
  return canvas.convertToBlob({ type: 'image/webp', quality: 0.8 })
}
