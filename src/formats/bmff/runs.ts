/** Operations on lists of byte ranges: sort, union, overlap, gaps. */
import { type Run, refuse } from './fields.ts'

/**
 * A packed list of byte ranges: start and end alternate. A small file can have a hundred thousand, and objects would take
 * four times the memory. Unit: bytes from the start of the file.
 */
export type Runs = Float64Array

/** An index below this fits into a double together with the start of a range. */
const MAX_RUNS = 2 ** 20

export function* runsOf(runs: Runs): Generator<Run> {
  for (let at = 0; at < runs.length; at += 2) yield { start: runs[at]!, end: runs[at + 1]! }
}

/** The ranges of all lists, in order. */
export function concatenated(lists: Runs[]): Runs {
  const all = new Float64Array(lists.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const list of lists) {
    all.set(list, at)
    at += list.length
  }
  return all
}

/** Sorts by start. Sorts packed keys: a comparator is ten times as slow, and a hostile file chooses the order. */
export function sortedByStart(runs: Runs): Runs {
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

/** The union of the ranges: sorted, disjoint and non-adjacent. */
export function union(runs: Runs): Runs {
  const merged: number[] = []
  const ordered = sortedByStart(runs)
  for (let at = 0; at < ordered.length; at += 2) {
    const [start, end] = [ordered[at]!, ordered[at + 1]!]
    const last = merged.length - 1
    if (end <= start) continue
    if (last > 0 && start <= merged[last]!) merged[last] = Math.max(merged[last]!, end)
    else merged.push(start, end)
  }
  return Float64Array.from(merged)
}

/** True if two different ranges overlap. Equal ranges are fine: encoders write equal data once. `runs`: sorted. */
export function overlap(runs: Runs): boolean {
  for (let at = 2; at < runs.length; at += 2) {
    const isSame = runs[at] === runs[at - 2] && runs[at + 1] === runs[at - 1]
    if (runs[at]! < runs[at - 1]! && !isSame) return true
  }
  return false
}

/**
 * The gaps in `regions` (sorted, disjoint) that `used` (a union) does not cover. Throws when a used range is not inside a
 * single region.
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
