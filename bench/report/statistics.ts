/** Figures of one run, and how they are summed up. */

export interface Summary {
  min: number
  median: number
  max: number
}

export function summarize(values: number[]): Summary {
  const sorted = values.toSorted((a, b) => a - b)
  return { min: sorted[0]!, median: percentile(sorted, 0.5), max: sorted.at(-1)! }
}

/** `sorted`: ascending. Between two neighbours it is their mean weighted by nearness. `share`: 0 to 1. */
export function percentile(sorted: number[], share: number): number {
  if (sorted.length === 0) throw new Error('no values')
  const at = (sorted.length - 1) * share
  const below = sorted[Math.floor(at)]!
  const above = sorted[Math.ceil(at)]!
  return below + (above - below) * (at - Math.floor(at))
}

/** Turn by turn, so that what slows the whole machine for a while slows both sides of a ratio. */
export function ratios(subject: number[], reference: number[]): number[] {
  if (subject.length !== reference.length) throw new Error('the two were not measured alternately')
  return subject.map((value, turn) => value / reference[turn]!)
}
