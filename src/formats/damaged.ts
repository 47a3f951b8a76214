/** How every format refuses what is damaged. Details are read by people: they say what is wrong, in plain words. */
import { Refusal } from '../errors.ts'
import { MAX_FRAME_PIXELS, MAX_SIDE_PIXELS } from '../protocol.ts'

export function damaged(detail: string): Refusal {
  return new Refusal('damaged-image', detail)
}

/** The file ends before the image does. */
export function cutOff(format: string): Refusal {
  return damaged(`The ${format} file is cut off: it ends before the image does.`)
}

/** Throws `Refusal('damaged-image')` for a picture without pixels or beyond the limits. Unit: pixels. */
export function checkDimensions(width: number, height: number): void {
  if (width < 1 || height < 1) throw damaged('The image has no pixels.')
  if (width > MAX_SIDE_PIXELS || height > MAX_SIDE_PIXELS) {
    throw damaged(`The image is ${width} by ${height} pixels; a side may have at most ${MAX_SIDE_PIXELS}.`)
  }
  if (width * height > MAX_FRAME_PIXELS) {
    throw damaged(
      `The image is ${width} by ${height} pixels; that is more than ${MAX_FRAME_PIXELS} in total.`,
    )
  }
}

/**
 * Most pixels that a viewer paints to show an animation once. A frame of one pixel takes a few bytes, and viewers copy the
 * whole picture for it; a recording of a whole screen has 8,000 frames below this. Unit: pixels.
 */
const MAX_ANIMATION_PIXELS = 2 ** 34

/** Throws `Refusal('damaged-image')` for more frames than a viewer can paint. */
export function checkAnimation(width: number, height: number, frames: number): void {
  if (frames > 1 && width * height * frames > MAX_ANIMATION_PIXELS) {
    throw damaged(
      `The animation has ${frames} frames of ${width} by ${height} pixels; that is more than ${MAX_ANIMATION_PIXELS} in total.`,
    )
  }
}
