/** Shares the turns of the event loop among requests: however many come at once, others have theirs in between. */
import type { Arrivals } from './arrivals.ts'

/** What requests may take of a turn before the next ones wait: a fiftieth of what may be felt. Unit: milliseconds. */
export const TURN_BUDGET_MS = 2

/**
 * How many turns in a row queued work yields to new connections. A burst of them is accepted quickly; a client that never
 * stops connecting slows the others down, but cannot starve them.
 */
export const TURNS_FOR_ARRIVALS = 8

/** Who waits: a socket, or the answer on it. */
interface Client {
  readonly destroyed: boolean
}

export interface Turns {
  /** Runs it at once, unless this turn has been long, or connections may wait to be accepted: then as `later`. */
  soon(act: () => void, client?: Client): void
  /**
   * Runs `act` in a later turn: one in each turn, first come, first served. Those at the head whose client is gone run at
   * once: they only clean up.
   */
  later(act: () => void, client?: Client): void
}

interface Waiting {
  act(): void
  client: Client
}

const ALWAYS_THERE: Client = { destroyed: false }

export function createTurns(arrivals: Arrivals = { areLikely: () => false }): Turns {
  const waiting: Waiting[] = []
  let startedAt: number | null = null
  let turnsForArrivals = 0
  let isScheduled = false

  function endTurn(): void {
    startedAt = null
  }

  function schedule(): void {
    if (isScheduled || waiting.length === 0) return
    isScheduled = true
    setImmediate(runNext)
  }

  function runNext(): void {
    isScheduled = false
    while (waiting[0]?.client.destroyed) waiting.shift()!.act()
    if (turnsForArrivals < TURNS_FOR_ARRIVALS && arrivals.areLikely()) turnsForArrivals++
    else {
      turnsForArrivals = 0
      waiting.shift()?.act()
    }
    schedule()
  }

  const turns: Turns = {
    soon(act, client = ALWAYS_THERE) {
      if (arrivals.areLikely()) return turns.later(act, client)
      if (startedAt === null) {
        startedAt = performance.now()
        setImmediate(endTurn)
      } else if (performance.now() - startedAt > TURN_BUDGET_MS) return turns.later(act, client)
      act()
    },
    later(act, client = ALWAYS_THERE) {
      waiting.push({ act, client })
      schedule()
    },
  }
  return turns
}
