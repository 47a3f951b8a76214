/** Small previews. They never leave this device; what is uploaded never touches a canvas. */

/** Unit: pixels. Twice the size at which cards show it. */
const SIDE = 176

/** Wider ones stay strips: in the height of a thumbnail they would be huge. */
const MOST_TIMES_WIDER = 16

let last: Promise<unknown> = Promise.resolve()

/** A small picture of `file`, or `null` where this browser can't make a true one. One at a time, in order. */
export function thumbnailOf(file: Blob): Promise<Blob | null> {
  const made = last.then(() => make(file)).catch(() => null)
  last = made
  return made
}

async function make(file: Blob): Promise<Blob | null> {
  if (!canvasIsTrue()) return null
  // The browser scales while it decodes, off this thread.
  let picture = await createImageBitmap(file, { resizeWidth: SIDE, resizeQuality: 'medium' })
  // A panorama would be a strip, stretched where the card fills its square: its middle is cut out in full height.
  if (picture.height < SIDE / 2 && picture.height * MOST_TIMES_WIDER >= SIDE) {
    picture.close()
    picture = await createImageBitmap(file, { resizeHeight: SIDE, resizeQuality: 'medium' })
  }
  const height = Math.min(picture.height, SIDE * 2)
  const canvas = new OffscreenCanvas(SIDE, height)
  canvas.getContext('2d')!.drawImage(picture, (SIDE - picture.width) / 2, (height - picture.height) / 2)
  picture.close()
  return canvas.convertToBlob({ type: 'image/webp', quality: 0.8 })
}

let verdict: boolean | undefined

/** Protection against fingerprinting gives back other pixels than were drawn. */
export function canvasIsTrue(): boolean {
  if (verdict === undefined) {
    const context = new OffscreenCanvas(16, 16).getContext('2d', { willReadFrequently: true })
    if (!context) return false
    context.fillStyle = '#9c3a12'
    context.fillRect(0, 0, 16, 16)
    const { data } = context.getImageData(0, 0, 16, 16)
    verdict = data.every((value, index) => value === [0x9c, 0x3a, 0x12, 0xff][index % 4])
  }
  return verdict
}
