/**
 * Fair scheduling of requests and of body reads: limits their share of each event loop tick and queues the rest. Measured in
 * docs/decisions/073.
 */
import type { Server } from 'node:http'
import { performance } from 'node:perf_hooks'
import { tickNumber } from '../../async.ts'

/**
 * Time that requests may use in one tick before further ones are deferred: 2 % of the 100 ms that people notice. Unit:
 * milliseconds.
 */
const TICK_BUDGET_MS = 2

/**
 * Consecutive ticks in which deferred work yields to new connections. A burst of connections is accepted quickly; a client that
 * never stops connecting slows the others down, but cannot starve them.
 */
export const TICKS_FOR_CONNECTIONS = 8

/** Body reads per tick. Each may yield 64 KiB, which take half a millisecond to inspect, hash and write. */
export const READS_PER_TICK = 16

/** A socket. */
interface Client {
  readonly destroyed: boolean
  /** Deferred work runs round robin over addresses. */
  readonly remoteAddress?: string | undefined
}

export interface Scheduler {
  /** Runs `task` now, or defers it if this tick's time is used up or connections may be waiting to be accepted. */
  run(task: () => void, client?: Client): void
  /**
   * Runs `task` in a later tick: one task per tick, round robin over addresses, in order within an address. Tasks whose
   * client has disconnected run together: they only clean up.
   */
  defer(task: () => void, client?: Client): void
}

interface Waiting {
  task(): void
  client: Client
}

const NO_CLIENT: Client = { destroyed: false }

export function createScheduler(pending: PendingConnections = { areLikely: () => false }): Scheduler {
  /** By address, in round-robin order. */
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

  /** Dequeues the first task of an address, and moves the address to the end. */
  function takeFirst([address, queue]: [string, Waiting[]]): Waiting {
    const first = queue.shift()!
    waiting.delete(address)
    if (queue.length > 0) waiting.set(address, queue)
    return first
  }

  function runNext(): void {
    isScheduled = false
    const isYielding = ticksForConnections < TICKS_FOR_CONNECTIONS && pending.areLikely()
    ticksForConnections = isYielding ? ticksForConnections + 1 : 0
    let mayRun = !isYielding
    for (const entry of waiting) {
      const isGone = entry[1][0]!.client.destroyed
      if (!isGone && !mayRun) break
      takeFirst(entry).task()
      mayRun &&= isGone
    }
    schedule()
  }

  const scheduler: Scheduler = {
    run(task, client = NO_CLIENT) {
      if (pending.areLikely()) return scheduler.defer(task, client)
      if (startedAt === null) {
        startedAt = performance.now()
        setImmediate(endTick)
      } else if (performance.now() - startedAt > TICK_BUDGET_MS) return scheduler.defer(task, client)
      task()
    },
    defer(task, client = NO_CLIENT) {
      const address = client.remoteAddress ?? ''
      const queue = waiting.get(address)
      if (queue === undefined) waiting.set(address, [{ task, client }])
      else queue.push({ task, client })
      schedule()
    },
  }
  return scheduler
}

/**
 * Read slots for bodies, first come, first served. `null`: a slot is free now; otherwise the promise resolves in a later
 * tick. A tick that reads from hundreds of fast uploads would take so long that views wait for seconds.
 */
export function createReadSlots(): () => Promise<void> | null {
  const waiting: (() => void)[] = []
  let free = READS_PER_TICK
  let isScheduled = false

  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    setImmediate(beginTick)
  }

  function beginTick(): void {
    isScheduled = false
    const next = waiting.splice(0, READS_PER_TICK)
    free = READS_PER_TICK - next.length
    if (next.length > 0) schedule()
    for (const read of next) read()
  }

  return () => {
    schedule()
    if (free === 0) return new Promise((resolve) => waiting.push(resolve))
    free--
    return null
  }
}

/** libuv accepts one connection per event loop tick, so after a new connection more may be waiting. */
export interface PendingConnections {
  /** Whether a connection arrived in this tick or the previous one. */
  areLikely(): boolean
}

export function createPendingConnections(server: Server): PendingConnections {
  let latest = Number.NEGATIVE_INFINITY
  server.on('connection', () => {
    latest = tickNumber()
  })
  return { areLikely: () => tickNumber() - latest <= 1 }
}
