import type { Pixels } from './pixels.ts'

const BLOCK = 8
/** Differences in brightness that nobody sees, squared. Unit: levels of 255, by the cube root of light. */
const UNSEEN = 58
/** Light, 0 to `LEVELS`, and back to a byte. Fine enough for the darkest byte. */
const LEVELS = 4095

/** How much of its texture a picture lost. */
export interface TextureLoss {
  /**
   * One minus the structure term of SSIM, in blocks of 8 by 8, of brightness as the eye has it (the cube root of light, as
   * SSIMULACRA2's XYB), by the mean of its fourth powers: a spot that lost all is seen before a picture that lost a
   * little everywhere. 0 is nothing, 1 is all.
   */
  worst: number
  /** The share of its contrast that a block lost, on average, 0 to 1. */
  faded: number
  /** How far pixels moved, on average. Unit: levels of 255, by the cube root of light. */
  moved: number
}

export function textureLossOf(before: Pixels, after: Pixels): TextureLoss {
  const { width, height } = before
  let [worst, faded, moved, blocks] = [0, 0, 0, 0]
  for (let row = 0; row + BLOCK <= height; row += BLOCK) {
    for (let column = 0; column + BLOCK <= width; column += BLOCK) {
      const loss = lossOfBlock(before.data, after.data, 4 * (row * width + column), 4 * width)
      worst += loss.worst ** 4
      faded += loss.faded
      moved += loss.moved
      blocks++
    }
  }
  if (blocks === 0) return { worst: 0, faded: 0, moved: 0 }
  return { worst: (worst / blocks) ** 0.25, faded: faded / blocks, moved: moved / blocks }
}

function lossOfBlock(
  before: Pixels['data'],
  after: Pixels['data'],
  start: number,
  stride: number,
): TextureLoss {
  const pixels = BLOCK * BLOCK
  let [a, b, aa, bb, ab, moved] = [0, 0, 0, 0, 0, 0]
  for (let row = 0, at = start; row < BLOCK; row++, at += stride) {
    for (let i = at; i < at + 4 * BLOCK; i += 4) {
      const x = brightness(before, i)
      const y = brightness(after, i)
      a += x
      b += y
      aa += x * x
      bb += y * y
      ab += x * y
      moved += Math.abs(x - y)
    }
  }
  const varianceBefore = aa / pixels - (a / pixels) ** 2
  const varianceAfter = bb / pixels - (b / pixels) ** 2
  const covariance = ab / pixels - (a * b) / pixels ** 2
  return {
    worst: 1 - (2 * covariance + UNSEEN) / (varianceBefore + varianceAfter + UNSEEN),
    faded: Math.max(0, 1 - (varianceAfter + UNSEEN) / (varianceBefore + UNSEEN)),
    moved: moved / pixels,
  }
}

/** Weights of BT.601 and an exponent of 2.2: near enough to sRGB for a comparison. */
const lightOf = (weight: number) =>
  Float32Array.from({ length: 256 }, (_, byte) => LEVELS * weight * (byte / 255) ** 2.2)
const RED = lightOf(0.299)
const GREEN = lightOf(0.587)
const BLUE = lightOf(0.114)
const BRIGHTNESS = Float32Array.from(
  { length: LEVELS + 1 },
  (_, level) => 255 * Math.cbrt(level / LEVELS + 0.004),
)

function brightness(data: Pixels['data'], at: number): number {
  const light = (RED[data[at] ?? 0] ?? 0) + (GREEN[data[at + 1] ?? 0] ?? 0) + (BLUE[data[at + 2] ?? 0] ?? 0)
  return BRIGHTNESS[Math.round(light)] ?? 0
}
