/** Errors for damaged images, shared by all formats. Details are shown to people: they say in plain words what is wrong. */
import { Refusal } from '../errors.ts'
import { MAX_FRAME_PIXELS, MAX_SIDE_PIXELS } from '../protocol.ts'

export function damaged(detail: string): Refusal {
  return new Refusal('damaged-image', detail)
}

/** The file ends before the image does. */
export function cutOff(format: string): Refusal {
  return damaged(`The ${format} file is cut off: it ends before the image does.`)
}

/** Throws `Refusal('damaged-image')` for an image that has no pixels or exceeds the limits. Unit: pixels. */
export function checkDimensions(width: number, height: number): void {
  if (width < 1 || height < 1) throw damaged('The image has no pixels.')
  if (width > MAX_SIDE_PIXELS || height > MAX_SIDE_PIXELS) {
    throw damaged(`The image is ${width} by ${height} pixels; the limit is ${MAX_SIDE_PIXELS} per side.`)
  }
  if (width * height > MAX_FRAME_PIXELS) {
    throw damaged(
      `The image is ${width} by ${height} pixels; that is more than ${MAX_FRAME_PIXELS} in total.`,
    )
  }
}

/**
 * Limit on the pixels a viewer paints to play an animation once. A one-pixel frame takes a few bytes in the file, but
 * viewers copy the whole canvas for it. A full-screen recording can have 8,000 frames. Unit: pixels.
 */
const MAX_ANIMATION_PIXELS = 2 ** 34

/** Throws `Refusal('damaged-image')` for an animation with more frames than a viewer can paint. */
export function checkAnimation(width: number, height: number, frames: number): void {
  if (frames > 1 && width * height * frames > MAX_ANIMATION_PIXELS) {
    throw damaged(
      `The animation has ${frames} frames of ${width} by ${height} pixels; that is more than ${MAX_ANIMATION_PIXELS} in total.`,
    )
  }
}
