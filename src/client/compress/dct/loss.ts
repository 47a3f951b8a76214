/** Texture that coarser quantisation takes from the luma of an image, without turning coefficients into pixels. */
import type { TextureLoss } from '../texture-loss.ts'
import { blocksOfMcu, type Coefficients } from './coefficients.ts'
import { type Requantisation, requantisedSize } from './quantise.ts'

/** Invisible brightness difference, squared. Unit: levels of 255. */
const INVISIBLE = 58

/**
 * The terms of `textureLossOf`, in brightness as stored. The sums of squares and products of a block's AC coefficients are 64 times
 * the variances and the covariance of its pixels (Parseval).
 */
export function lossOf(
  { components, coefficients, blockStarts }: Coefficients,
  { components: after, ratios }: Requantisation,
): TextureLoss {
  const blocks = blocksOfMcu(components)
  const steps = components[0]!.steps
  const stepsAfter = after[0]!.steps
  const ratio = ratios[0]!
  const sum = { structure: 0, contrast: 0, meanError: 0 }
  let count = 0
  for (let block = 0; block < blockStarts.length - 1; block++) {
    if (blocks[block % blocks.length]! > 0) continue
    const end = blockStarts[block + 1]!
    let [squares, squaresAfter, products] = [0, 0, 0]
    for (let at = blockStarts[block]! + 1; at < end; at++) {
      const entry = coefficients[at]!
      const index = entry & 63
      const x = Math.abs(entry >> 6) * steps[index]!
      const y = requantisedSize(entry >> 6, ratio[index]!) * stepsAfter[index]!
      squares += x * x
      squaresAfter += y * y
      products += x * y
    }
    count++
    const [variance, varianceAfter, covariance] = [squares / 64, squaresAfter / 64, products / 64]
    sum.structure += (1 - (2 * covariance + INVISIBLE) / (variance + varianceAfter + INVISIBLE)) ** 4
    sum.contrast += Math.max(0, 1 - (varianceAfter + INVISIBLE) / (variance + INVISIBLE))
    sum.meanError += Math.sqrt(Math.max(0, variance + varianceAfter - 2 * covariance))
  }
  return {
    structure: (sum.structure / count) ** 0.25,
    contrast: sum.contrast / count,
    meanError: sum.meanError / count,
  }
}
