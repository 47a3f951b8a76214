/** Shares the turns of the event loop among requests: however many come at once, others have theirs in between. */
import type { Arrivals } from './arrivals.ts'

/** What requests may take of a turn before the next ones wait: a fiftieth of what may be felt. Unit: milliseconds. */
export const TURN_BUDGET_MS = 2

/**
 * For so many turns what waits lets new connections come first: a burst of them is accepted in the time of a few pieces of
 * images, and who connects for ever slows the others down, but does not stop them.
 */
export const TURNS_FOR_ARRIVALS = 8

export interface Turns {
  /** Runs it at once, unless this turn has been long, or connections may wait to be accepted: then as `later`. */
  soon(act: () => void): void
  /** Runs it in one of the turns that follow. At most one of these is run in each, in the order in which they came. */
  later(act: () => void): void
}

export function createTurns(arrivals: Arrivals = { areLikely: () => false }): Turns {
  const waiting: (() => void)[] = []
  let startedAt: number | null = null
  let turnsForArrivals = 0

  function endTurn(): void {
    startedAt = null
  }

  function runNext(): void {
    if (turnsForArrivals < TURNS_FOR_ARRIVALS && arrivals.areLikely()) {
      turnsForArrivals++
      setImmediate(runNext)
      return
    }
    turnsForArrivals = 0
    const next = waiting.shift()!
    if (waiting.length > 0) setImmediate(runNext)
    next()
  }

  const turns: Turns = {
    soon(act) {
      if (arrivals.areLikely()) return turns.later(act)
      if (startedAt === null) {
        startedAt = performance.now()
        setImmediate(endTurn)
      } else if (performance.now() - startedAt > TURN_BUDGET_MS) return turns.later(act)
      act()
    },
    later(act) {
      waiting.push(act)
      if (waiting.length === 1) setImmediate(runNext)
    },
  }
  return turns
}
