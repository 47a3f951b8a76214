import type { Pixels } from './pixels.ts'

const BLOCK = 8
/** Invisible brightness difference, squared. Unit: levels of 255 after the cube root of light. */
const INVISIBLE = 58
/** Steps of linear light, 0 to `LEVELS`: fine enough to tell the darkest bytes apart. */
const LEVELS = 4095

/** Texture that an image lost in encoding. */
export interface TextureLoss {
  /**
   * One minus the structure term of SSIM, in 8 × 8 blocks of perceptual brightness (the cube root of light, as in SSIMULACRA2's
   * XYB). Aggregated as the 4-norm, because one ruined spot is more visible than a slight loss everywhere. 0: no loss, 1: total.
   */
  structure: number
  /** Share of its contrast that a block lost, on average, 0 to 1. */
  contrast: number
  /** Mean absolute difference of the pixels. Unit: levels of 255 after the cube root of light. */
  meanError: number
}

export function textureLossOf(before: Pixels, after: Pixels): TextureLoss {
  const { width, height } = before
  let [structure, contrast, meanError, blocks] = [0, 0, 0, 0]
  for (let row = 0; row + BLOCK <= height; row += BLOCK) {
    for (let column = 0; column + BLOCK <= width; column += BLOCK) {
      const loss = lossOfBlock(before.data, after.data, 4 * (row * width + column), 4 * width)
      structure += loss.structure ** 4
      contrast += loss.contrast
      meanError += loss.meanError
      blocks++
    }
  }
  if (blocks === 0) return { structure: 0, contrast: 0, meanError: 0 }
  return {
    structure: (structure / blocks) ** 0.25,
    contrast: contrast / blocks,
    meanError: meanError / blocks,
  }
}

function lossOfBlock(
  before: Pixels['data'],
  after: Pixels['data'],
  start: number,
  stride: number,
): TextureLoss {
  const pixels = BLOCK * BLOCK
  let [a, b, aa, bb, ab, meanError] = [0, 0, 0, 0, 0, 0]
  for (let row = 0, at = start; row < BLOCK; row++, at += stride) {
    for (let i = at; i < at + 4 * BLOCK; i += 4) {
      const x = brightness(before, i)
      const y = brightness(after, i)
      a += x
      b += y
      aa += x * x
      bb += y * y
      ab += x * y
      meanError += Math.abs(x - y)
    }
  }
  const varianceBefore = aa / pixels - (a / pixels) ** 2
  const varianceAfter = bb / pixels - (b / pixels) ** 2
  const covariance = ab / pixels - (a * b) / pixels ** 2
  return {
    structure: 1 - (2 * covariance + INVISIBLE) / (varianceBefore + varianceAfter + INVISIBLE),
    contrast: Math.max(0, 1 - (varianceAfter + INVISIBLE) / (varianceBefore + INVISIBLE)),
    meanError: meanError / pixels,
  }
}

/** BT.601 weights and an exponent of 2.2: close enough to sRGB for a comparison. */
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
