/** Summary statistics. */

export interface Summary {
  min: number
  median: number
  max: number
}

export function summarize(values: number[]): Summary {
  const sorted = values.toSorted((a, b) => a - b)
  return { min: sorted[0]!, median: percentile(sorted, 0.5), max: sorted.at(-1)! }
}

/** Interpolates linearly between neighbours. `sorted`: ascending. `share`: 0 to 1. */
export function percentile(sorted: number[], share: number): number {
  if (sorted.length === 0) throw new Error('no values')
  const at = (sorted.length - 1) * share
  const below = sorted[Math.floor(at)]!
  const above = sorted[Math.ceil(at)]!
  return below + (above - below) * (at - Math.floor(at))
}

/** Ratios turn by turn, so that a temporary slowdown of the machine affects both sides of a ratio. */
export function ratios(subject: number[], reference: number[]): number[] {
  if (subject.length !== reference.length) throw new Error('the two were not measured alternately')
  return subject.map((value, turn) => value / reference[turn]!)
}
