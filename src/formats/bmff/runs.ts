/** Stretches of a file: in order, joined, and what lies between them. */
import { type Run, refuse } from './fields.ts'

/** Fits into a double beside the start of a run. */
const MAX_RUNS = 2 ** 20

/** In ascending order of their start. By numbers alone: a comparator takes ten times as long, and a file chooses the order. */
export function inOrder(runs: Run[]): Run[] {
  if (runs.length > MAX_RUNS) refuse('it has too many pieces of image data')
  const keys = new Float64Array(runs.length)
  let isOrdered = true
  let last = 0
  for (const [index, { start }] of runs.entries()) {
    keys[index] = start * MAX_RUNS + index
    isOrdered &&= start >= last
    last = start
  }
  if (isOrdered) return runs
  const ordered: Run[] = []
  for (const key of keys.sort()) {
    const run = runs[key % MAX_RUNS]
    if (run) ordered.push(run)
  }
  return ordered
}

/** The same bytes as runs in ascending order that neither touch nor overlap. */
export function union(runs: Run[]): Run[] {
  const merged: { start: number; end: number }[] = []
  for (const { start, end } of inOrder(runs)) {
    const last = merged.at(-1)
    if (end <= start) continue
    if (last && start <= last.end) last.end = Math.max(last.end, end)
    else merged.push({ start, end })
  }
  return merged
}

/** True if a run holds a part of another. Two may be the same: encoders write equal data once. */
export function overlap(runs: Run[]): boolean {
  let last: Run = { start: 0, end: 0 }
  return inOrder(runs).some((run) => {
    const overlaps = run.start < last.end && (run.start !== last.start || run.end !== last.end)
    last = run
    return overlaps
  })
}

/**
 * What of `regions` (ascending, apart from each other) `used` (a union) leaves over. Throws if a used run is not
 * inside one region.
 */
export function unused(regions: Run[], used: Run[]): Run[] {
  const gaps: Run[] = []
  let next = 0
  for (const region of regions) {
    let at = region.start
    for (let run = used[next]; run && run.start < region.end; run = used[++next]) {
      if (run.start < region.start || run.end > region.end)
        refuse('image data lies outside mdat, imda and idat')
      if (run.start > at) gaps.push({ start: at, end: run.start })
      at = run.end
    }
    if (at < region.end) gaps.push({ start: at, end: region.end })
  }
  if (next < used.length) refuse('image data lies outside mdat, imda and idat')
  return gaps
}
