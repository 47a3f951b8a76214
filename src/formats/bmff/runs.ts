/** Stretches of a file: in order, joined, and what lies between them. */
import { type Run, refuse } from './fields.ts'

/**
 * Many runs: start and end of each in turn. A small file can have a hundred thousand, and an object each takes four times
 * the memory. Unit: bytes from the start of the file.
 */
export type Runs = Float64Array

/** Fits into a double beside the start of a run. */
const MAX_RUNS = 2 ** 20

export function* runsOf(runs: Runs): Generator<Run> {
  for (let at = 0; at < runs.length; at += 2) yield { start: runs[at]!, end: runs[at + 1]! }
}

/** The runs of all lists, one behind the other. */
export function concatenated(lists: Runs[]): Runs {
  const all = new Float64Array(lists.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const list of lists) {
    all.set(list, at)
    at += list.length
  }
  return all
}

/** In ascending order of their start. By numbers alone: a comparator takes ten times as long, and a file chooses the order. */
export function inOrder(runs: Runs): Runs {
  const count = runs.length / 2
  if (count > MAX_RUNS) refuse('it has too many pieces of image data')
  const keys = new Float64Array(count)
  let isOrdered = true
  for (let index = 0; index < count; index++) {
    keys[index] = runs[2 * index]! * MAX_RUNS + index
    isOrdered &&= index === 0 || runs[2 * index]! >= runs[2 * index - 2]!
  }
  if (isOrdered) return runs
  const ordered = new Float64Array(runs.length)
  keys.sort()
  for (let to = 0; to < count; to++) {
    const from = 2 * (keys[to]! % MAX_RUNS)
    ordered[2 * to] = runs[from]!
    ordered[2 * to + 1] = runs[from + 1]!
  }
  return ordered
}

/** The same bytes as runs in ascending order that neither touch nor overlap. */
export function union(runs: Runs): Runs {
  const merged: number[] = []
  const ordered = inOrder(runs)
  for (let at = 0; at < ordered.length; at += 2) {
    const [start, end] = [ordered[at]!, ordered[at + 1]!]
    const last = merged.length - 1
    if (end <= start) continue
    if (last > 0 && start <= merged[last]!) merged[last] = Math.max(merged[last]!, end)
    else merged.push(start, end)
  }
  return Float64Array.from(merged)
}

/** True if a run holds a part of another. Two may be the same: encoders write equal data once. `runs`: in order. */
export function overlap(runs: Runs): boolean {
  for (let at = 2; at < runs.length; at += 2) {
    const isSame = runs[at] === runs[at - 2] && runs[at + 1] === runs[at - 1]
    if (runs[at]! < runs[at - 1]! && !isSame) return true
  }
  return false
}

/**
 * What of `regions` (ascending, apart from each other) `used` (a union) leaves over. Throws if a used run is not
 * inside one region.
 */
export function* unused<R extends Run>(regions: R[], used: Runs): Generator<{ region: R; gap: Run }> {
  let next = 0
  for (const region of regions) {
    let at = region.start
    for (; next < used.length && used[next]! < region.end; next += 2) {
      const [start, end] = [used[next]!, used[next + 1]!]
      if (start < region.start || end > region.end) refuse('image data lies outside mdat, imda and idat')
      if (start > at) yield { region, gap: { start: at, end: start } }
      at = end
    }
    if (at < region.end) yield { region, gap: { start: at, end: region.end } }
  }
  if (next < used.length) refuse('image data lies outside mdat, imda and idat')
}
