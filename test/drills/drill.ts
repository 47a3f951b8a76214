/** Drills and their results. */
import { CACHES, skipWithout } from '../support/processes/caches.ts'

export interface Tally {
  /** Successful uploads and deletions. */
  acknowledged: number
  /** Acknowledged images that are missing or changed. */
  lost: number
  /** Images that exist again after an acknowledged deletion. */
  risen: number
  /** Requests that failed with a broken connection or a 5xx. */
  errors: number
  /** Failures specific to the drill. Empty if it passed. */
  faults: string[]
}

export interface Drill {
  name: string
  /** What the drill does to the service, in one sentence. */
  story: string
  /** Whether clients may see errors. If not, a single error fails the drill. */
  mayFail: boolean
  /** `rounds`: fewer in CI than by hand. */
  run(rounds: number): Promise<Tally>
  /** Why the drill can't run on this machine, or `null`. */
  skip?(): Promise<string | null>
  /** A control, which must lose data: otherwise the other drills prove nothing. */
  mustLose?: boolean
}

/** Skip reason if the cache is not installed, or `null`. Always `null` in CI, where a missing cache must fail the drill. */
export async function cacheSkipReason(name: 'varnish' | 'nginx'): Promise<string | null> {
  return (await skipWithout(CACHES[name].needs, name)) || null
}

export function isPassed(drill: Drill, tally: Tally): boolean {
  if (drill.mustLose) return tally.lost + tally.risen > 0
  const isWhole = tally.lost === 0 && tally.risen === 0 && tally.faults.length === 0
  return isWhole && tally.acknowledged > 0 && (drill.mayFail || tally.errors === 0)
}
