/**
 * Purges of caches in front. Each is queued in the ledger before the image is removed, and stays queued until the provider
 * confirmed one that was sent after the longest possible fill: a fill that was under way can put the image back into a
 * cache that was purged at once.
 */

import { type BackgroundJob, backoffMs, createIntervalJob, MAX_RETRY_AFTER_MS } from '../../async.ts'
import type { Cdn } from '../../cdn/cdn.ts'
import { MAX_PURGE_MS, purgeName } from '../../cdn/cdn.ts'
import { RemoteFailure } from '../../errors.ts'
import type { ImageType } from '../../protocol.ts'
import type { Ledger } from '../../stores/ledger.ts'
import type { Purge } from '../../stores/purges.ts'

/** Works off what is due, also what earlier or other processes left. */
export interface Purges extends BackgroundJob {
  /**
   * Queues a purge of the image; by fewer addresses if its type is known. Call it before the object is removed, so that no
   * crash loses the purge, and again after: a purge in between may have been too early, and fills may end later.
   */
  enqueue(id: string, type?: ImageType): Promise<void>
  /** Sends what is queued now instead of at the next interval. Never throws. */
  flush(): void
  /** How many are queued, and the age of the oldest in seconds. `null` if no cache is configured. */
  pending(): Promise<{ count: number; oldestSeconds: number } | null>
}

/** Interval between checks for purges that are due. */
const INTERVAL_MS = 1000

/** How long deletions wait for others to be purged with. */
const GATHER_MS = 200

/** How long a claim lasts if its process dies. */
const LEASE_MS = 15_000

/** No cache in front: nothing to purge. */
export const NO_PURGES: Purges = {
  enqueue: async () => {},
  flush: () => {},
  pending: async () => null,
  start: () => {},
  stop: async () => {},
}

export function createPurges(parts: {
  ledger: Ledger
  cdn: Cdn
  now: () => number
  /** Hears of every purge that failed. */
  onFailure: (error: unknown, ids: string[]) => void
  intervalMs?: number
}): Purges {
  const { ledger, cdn, now, onFailure } = parts
  const job = createIntervalJob(round, parts.intervalMs ?? INTERVAL_MS, (error) => onFailure(error, []))
  let gathering: ReturnType<typeof setTimeout> | undefined
  /** The provider is not asked before. */
  let quietUntil = 0

  /** A wait that is longer than a provider may ask for was set while the clock was ahead. */
  function isQuiet(): boolean {
    const leftMs = quietUntil - now()
    return leftMs > 0 && leftMs <= MAX_RETRY_AFTER_MS
  }

  /** Asks the ledger before it takes a turn of the provider's: turns are few. */
  async function round(): Promise<void> {
    clearTimeout(gathering)
    gathering = undefined
    while (!isQuiet() && (await ledger.isPurgeDue(now()))) {
      if (cdn.rate !== null) {
        const waitMs = await ledger.takeTurn(cdn.name, now(), cdn.rate)
        if (waitMs > 0) {
          quietUntil = now() + waitMs
          return
        }
      }
      const claimedAt = now()
      const due = await ledger.claimPurges(cdn.batchSize, claimedAt, LEASE_MS)
      if (due.length === 0) return
      // Otherwise a slow ledger used the claim up: the purge could be under way still when another process begins it.
      if (now() + MAX_PURGE_MS <= claimedAt + LEASE_MS) await work(due)
    }
  }

  async function work(due: Purge[]): Promise<void> {
    const ids = [...new Set(due.map(({ id }) => id))]
    const startedAt = now()
    try {
      await cdn.purge(ids)
    } catch (error) {
      onFailure(error, ids)
      const named = error instanceof RemoteFailure ? error.retryAfterMs : undefined
      await ledger.deferPurges(
        due,
        now() + (named ?? backoffMs(Math.max(...due.map(({ attempts }) => attempts)))),
      )
      if (named !== undefined) await keepQuiet(now() + named)
      return
    }
    await ledger.settlePurges(due, startedAt, cdn.maxFillMs)
  }

  /** The provider named a time: it holds for everything, from every server. */
  async function keepQuiet(until: number): Promise<void> {
    quietUntil = Math.max(quietUntil, until)
    if (cdn.rate !== null) await ledger.holdTurns(cdn.name, until, cdn.rate)
  }

  function flush(): void {
    // Deletions that come together share a call where calls are counted.
    if (cdn.rate === null) job.runAgain()
    else gathering ??= setTimeout(job.runAgain, GATHER_MS)
  }

  return {
    enqueue: (id, type) => ledger.enqueuePurge(purgeName(id, type), now() + cdn.maxFillMs, now()),
    flush,
    async pending() {
      const { count, oldest } = await ledger.pendingPurges()
      return { count, oldestSeconds: oldest === null ? 0 : Math.max(0, Math.round((now() - oldest) / 1000)) }
    },
    start: job.start,
    async stop() {
      clearTimeout(gathering)
      gathering = undefined
      await job.stop()
    },
  }
}
