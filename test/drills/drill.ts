/** What a drill is, and what it counts. */
import { CACHES, isInstalled } from '../support/processes/caches.ts'

export interface Tally {
  /** Uploads that were answered with 201, and deletions with success. */
  acknowledged: number
  /** Acknowledged images that are gone or changed. */
  lost: number
  /** Images that are there again after an acknowledged deletion. */
  risen: number
  /** Requests without the answer of a service in order: a broken connection, or a 5xx. */
  errors: number
  /** What the drill alone can tell. Empty if all is well. */
  faults: string[]
}

export interface Drill {
  name: string
  /** What is done to the service. One sentence. */
  story: string
  /** Whether clients may see errors. Without it, one is a failure. */
  mayFail: boolean
  /** How often it is done: less in CI than by hand. */
  run(rounds: number): Promise<Tally>
  /** Why it can't be done on this machine. */
  skip?(): Promise<string | null>
  /** The control: what must go wrong. A drill that can't see it proves nothing. */
  mustLose?: boolean
}

/** Why a drill is skipped, or `null`. In CI it is never skipped, so a missing cache fails it. */
export async function whyNoCache(name: 'varnish' | 'nginx'): Promise<string | null> {
  const isHere = process.env.PINHOLE_CI || (await isInstalled(...CACHES[name].needs))
  return isHere ? null : `${name} is not on this machine`
}

export function isPassed(drill: Drill, tally: Tally): boolean {
  if (drill.mustLose) return tally.lost + tally.risen > 0
  const isWhole = tally.lost === 0 && tally.risen === 0 && tally.faults.length === 0
  return isWhole && tally.acknowledged > 0 && (drill.mayFail || tally.errors === 0)
}
