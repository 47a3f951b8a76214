/** Interpolates sizes at equal quality between measured points. */
import type { Difference } from './metrics.ts'
import type { Half } from './photographs.ts'

/** The result of one setting on one photograph. */
export interface Point {
  half: Half
  name: string
  /** See `sweep.ts`. */
  setting: string
  bytes: number
  /** SSIMULACRA2. */
  score: number
  /** Only measured for contestants. */
  butteraugli?: Difference
}

/** `[score, bytes]` pairs of one picture. */
type Curve = [score: number, bytes: number][]

/** Interpolates log(bytes) linearly; extrapolates by up to 3 score points. `null` beyond that. */
export function bytesAt(curve: Curve, score: number): number | null {
  const sorted = curve.toSorted(([a], [b]) => a - b)
  const [first, last] = [sorted[0], sorted.at(-1)]
  if (!first || !last || sorted.length < 2 || score < first[0] - 3 || score > last[0] + 3) return null
  const upper = Math.min(
    Math.max(
      1,
      sorted.findIndex(([at]) => at >= score),
    ),
    sorted.length - 1,
  )
  const index = score > last[0] ? sorted.length - 1 : upper
  const [low, high] = [sorted[index - 1]!, sorted[index]!]
  if (high[0] === low[0]) return low[1]
  const share = (score - low[0]) / (high[0] - low[0])
  return Math.exp(Math.log(low[1]) + share * (Math.log(high[1]) - Math.log(low[1])))
}

export function geometricMean(values: number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length)
}

/** Curves by picture, for the settings accepted by `belongs`. */
export function curvesOf(points: Point[], belongs: (setting: string) => boolean): Map<string, Curve> {
  const curves = new Map<string, Curve>()
  for (const { name, setting, bytes, score } of points) {
    if (!belongs(setting)) continue
    const curve = curves.get(name) ?? []
    curve.push([score, bytes])
    curves.set(name, curve)
  }
  return curves
}
