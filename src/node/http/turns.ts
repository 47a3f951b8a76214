/** Shares the turns of the event loop among requests: however many come at once, others have theirs in between. */

/** What requests may take of a turn before the next ones wait: a twentieth of what may be felt. Unit: milliseconds. */
export const TURN_BUDGET_MS = 5

export interface Turns {
  /** Runs it at once, unless this turn has been long: then as `later`. */
  soon(act: () => void): void
  /** Runs it in one of the turns that follow. One of these is run in each, in the order in which they came. */
  later(act: () => void): void
}

export function createTurns(): Turns {
  const waiting: (() => void)[] = []
  let startedAt: number | null = null

  function endTurn(): void {
    startedAt = null
  }

  function runNext(): void {
    const next = waiting.shift()!
    if (waiting.length > 0) setImmediate(runNext)
    next()
  }

  const turns: Turns = {
    soon(act) {
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
