/** Texture that coarser quantisation takes from the luma of an image, without turning coefficients into pixels. */
import type { TextureLoss } from '../texture-loss.ts'
import { blocksOfMcu, type Coefficients } from './coefficients.ts'

/** Invisible brightness difference, squared. Unit: levels of 255. */
const INVISIBLE = 58

/**
 * The terms of `textureLossOf`, in brightness as stored. The sums of squares and products of a block's AC coefficients are 64 times
 * the variances and the covariance of its pixels (Parseval). `after`: `before` in coarser steps.
 */
export function lossOf(before: Coefficients, after: Coefficients): TextureLoss {
  const blocks = blocksOfMcu(before.components)
  const [from, to] = [before.coefficients, after.coefficients]
  const fromSteps = before.components[0]!.steps
  const toSteps = after.components[0]!.steps
  const sum = { structure: 0, contrast: 0, meanError: 0 }
  let count = 0
  let at = 0
  let atAfter = 0
  for (let mcu = 1; mcu < before.mcuStarts.length; mcu++) {
    for (const component of blocks) {
      let [squares, squaresAfter, products] = [0, 0, 0]
      at++
      atAfter++
      for (let index = 0; at < from.length; at++) {
        index = from[at]! & 63
        if (index === 0) break
        const x = (from[at]! >> 6) * fromSteps[index]!
        squares += x * x
        if ((to[atAfter]! & 63) !== index) continue
        const y = (to[atAfter]! >> 6) * toSteps[index]!
        squaresAfter += y * y
        products += x * y
        atAfter++
      }
      if (component > 0) continue
      count++
      const [variance, varianceAfter, covariance] = [squares / 64, squaresAfter / 64, products / 64]
      sum.structure += (1 - (2 * covariance + INVISIBLE) / (variance + varianceAfter + INVISIBLE)) ** 4
      sum.contrast += Math.max(0, 1 - (varianceAfter + INVISIBLE) / (variance + INVISIBLE))
      sum.meanError += Math.sqrt(Math.max(0, variance + varianceAfter - 2 * covariance))
    }
  }
  return {
    structure: (sum.structure / count) ** 0.25,
    contrast: sum.contrast / count,
    meanError: sum.meanError / count,
  }
}
