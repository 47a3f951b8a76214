/**
 * Fair scheduling of requests and of reads from their bodies: bounds what they take of one tick of the event loop, and queues
 * the rest. What it is worth: docs/decisions/073.
 */
import type { Server } from 'node:http'
import { performance } from 'node:perf_hooks'
import { tickNumber } from '../../async.ts'

/** Time that requests may take of one tick before the next ones are deferred: 2 % of the 100 ms that people notice. Unit: milliseconds. */
export const TICK_BUDGET_MS = 2

/**
 * Consecutive ticks for which deferred work yields to new connections. A burst of them is accepted quickly; a client that
 * never stops connecting slows the others down, but cannot starve them.
 */
export const TICKS_FOR_CONNECTIONS = 8

/** Bodies that are read on in one tick. Each may bring 64 KiB, which take half a millisecond to inspect, hash and write. */
export const READS_PER_TICK = 16

/** A socket. */
interface Client {
  readonly destroyed: boolean
  /** Addresses take turns. */
  readonly remoteAddress?: string | undefined
}

export interface Scheduler {
  /** Runs `act` now, or defers it if this tick's time is used up or connections may wait to be accepted. */
  run(act: () => void, client?: Client): void
  /**
   * Runs `act` in a later tick: one a tick, addresses round robin, those of an address in order. Those whose client is gone
   * when their turn comes run together: they only clean up.
   */
  defer(act: () => void, client?: Client): void
}

interface Waiting {
  act(): void
  client: Client
}

const ALWAYS_THERE: Client = { destroyed: false }

/** The plain way: first come, first served, however long a tick gets. */
export const unfairScheduler: Scheduler = {
  run: (act) => act(),
  defer: (act) => void setImmediate(act),
}

export function createScheduler(pending: PendingConnections = { areLikely: () => false }): Scheduler {
  /** By address, in the order of their turns. */
  const waiting = new Map<string, Waiting[]>()
  let startedAt: number | null = null
  let ticksForConnections = 0
  let isScheduled = false

  function endTick(): void {
    startedAt = null
  }

  function schedule(): void {
    if (isScheduled || waiting.size === 0) return
    isScheduled = true
    setImmediate(runNext)
  }

  /** Takes the first of the address whose turn it is, and moves the address to the end. */
  function takeFirst([address, queue]: [string, Waiting[]]): Waiting {
    const first = queue.shift()!
    waiting.delete(address)
    if (queue.length > 0) waiting.set(address, queue)
    return first
  }

  function runNext(): void {
    isScheduled = false
    const yields = ticksForConnections < TICKS_FOR_CONNECTIONS && pending.areLikely()
    ticksForConnections = yields ? ticksForConnections + 1 : 0
    let mayRun = !yields
    for (const turn of waiting) {
      const isGone = turn[1][0]!.client.destroyed
      if (!isGone && !mayRun) break
      takeFirst(turn).act()
      mayRun &&= isGone
    }
    schedule()
  }

  const scheduler: Scheduler = {
    run(act, client = ALWAYS_THERE) {
      if (pending.areLikely()) return scheduler.defer(act, client)
      if (startedAt === null) {
        startedAt = performance.now()
        setImmediate(endTick)
      } else if (performance.now() - startedAt > TICK_BUDGET_MS) return scheduler.defer(act, client)
      act()
    },
    defer(act, client = ALWAYS_THERE) {
      const address = client.remoteAddress ?? ''
      const queue = waiting.get(address)
      if (queue === undefined) waiting.set(address, [{ act, client }])
      else queue.push({ act, client })
      schedule()
    },
  }
  return scheduler
}

/**
 * Turns to read from a body, first come, first served. `null`: at once; else it resolves in a later tick. A tick that reads
 * from hundreds of fast uploads takes so long that views wait for seconds.
 */
export function createReadTurns(): () => Promise<void> | null {
  const waiting: (() => void)[] = []
  let left = READS_PER_TICK
  let isScheduled = false

  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    setImmediate(beginTick)
  }

  function beginTick(): void {
    isScheduled = false
    const next = waiting.splice(0, READS_PER_TICK)
    left = READS_PER_TICK - next.length
    if (next.length > 0) schedule()
    for (const read of next) read()
  }

  return () => {
    schedule()
    if (left === 0) return new Promise((resolve) => waiting.push(resolve))
    left--
    return null
  }
}

/** libuv accepts one connection in each tick of the event loop: behind a new one others may wait. */
export interface PendingConnections {
  /** Whether a connection came in this tick or in the one before. */
  areLikely(): boolean
}

export function createPendingConnections(server: Server): PendingConnections {
  let latest = Number.NEGATIVE_INFINITY
  server.on('connection', () => {
    latest = tickNumber()
  })
  return { areLikely: () => tickNumber() - latest <= 1 }
}
