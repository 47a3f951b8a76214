import type { Pixels } from './pixels.ts'

/** A difference of colour within two pixels by two that is seen where it stands alone. Unit: levels of 255. */
const VISIBLE = 20
/** Share of all blocks of two by two. */
const MIN_SHARE = 0.01

/**
 * Whether a picture has colour so fine that halving its resolution would show: coloured letters and lines, saturated
 * edges. Photographs by a camera hardly have any.
 */
export function fineColourShows({ data, width, height }: Pixels): boolean {
  const stride = 4 * width
  let fine = 0
  let blocks = 0
  for (let row = 0; row + 1 < height; row += 2) {
    for (let column = 0, at = row * stride; column + 1 < width; column += 2, at += 8) {
      if (spread(data, at, stride) > VISIBLE) fine++
      blocks++
    }
  }
  return fine > MIN_SHARE * blocks
}

/** How far apart the colours of two pixels by two are: of Cb or of Cr, whichever differs more. */
function spread(data: Pixels['data'], at: number, stride: number): number {
  let [minBlue, maxBlue, minRed, maxRed] = [255, -255, 255, -255]
  for (const i of [at, at + 4, at + stride, at + stride + 4]) {
    const red = data[i] ?? 0
    const green = data[i + 1] ?? 0
    const blue = data[i + 2] ?? 0
    const cb = 0.5 * blue - 0.168736 * red - 0.331264 * green
    const cr = 0.5 * red - 0.418688 * green - 0.081312 * blue
    minBlue = Math.min(minBlue, cb)
    maxBlue = Math.max(maxBlue, cb)
    minRed = Math.min(minRed, cr)
    maxRed = Math.max(maxRed, cr)
  }
  return Math.max(maxBlue - minBlue, maxRed - minRed)
}
