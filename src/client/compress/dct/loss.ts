/** What coarser quantisation takes from an image, without turning coefficients into pixels. */
import type { TextureLoss } from '../texture-loss.ts'
import { blocksOfMcu, type Coefficients } from './coefficients.ts'
import { type Requantisation, requantisedSize } from './quantise.ts'

/** Invisible brightness difference, squared. Unit: levels of 255. */
const INVISIBLE = 58

/**
 * The terms of `textureLossOf`, in brightness as stored. The sums of squares and products of a block's AC coefficients are 64 times
 * the variances and the covariance of its pixels (Parseval).
 */
export function lossOf(image: Coefficients, after: Requantisation): TextureLoss {
  const blocks = blocksOfMcu(image.components)
  const sum = { structure: 0, contrast: 0, meanError: 0 }
  let count = 0
  for (let block = 0; block < image.blockStarts.length - 1; block++) {
    if (blocks[block % blocks.length]! > 0) continue
    const { squares, squaresAfter, products } = sumsOf(image, after, { block, component: 0 })
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

/** Root mean square of the difference that coarser quantisation makes to the chroma. Unit: levels of 255. */
export function colourErrorOf(image: Coefficients, after: Requantisation): number {
  const blocks = blocksOfMcu(image.components)
  let [sum, count] = [0, 0]
  for (let block = 0; block < image.blockStarts.length - 1; block++) {
    const component = blocks[block % blocks.length]!
    if (component === 0) continue
    const { squares, squaresAfter, products } = sumsOf(image, after, { block, component })
    sum += squares + squaresAfter - 2 * products
    count++
  }
  return Math.sqrt(sum / (64 * count))
}

/** Sums over a block's AC coefficients, as stored and after coarser quantisation. */
function sumsOf(
  { components, coefficients, blockStarts }: Coefficients,
  { components: after, ratios }: Requantisation,
  { block, component }: { block: number; component: number },
) {
  const { steps } = components[component]!
  const stepsAfter = after[component]!.steps
  const ratio = ratios[component]!
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
  return { squares, squaresAfter, products }
}
