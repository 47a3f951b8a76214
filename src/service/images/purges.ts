/**
 * Purges of CDN caches. A purge is queued in the ledger before the image is removed, and stays queued until the provider has
 * confirmed one sent after the longest possible cache fill: a fill in flight can put the image back into a cache that was
 * already purged.
 */

import { type BackgroundJob, backoffMs, createIntervalJob, MAX_RETRY_AFTER_MS } from '../../async.ts'
import type { Cdn } from '../../cdn/cdn.ts'
import { purgeName } from '../../cdn/cdn.ts'
import { RemoteFailure } from '../../errors.ts'
import type { ImageType } from '../../protocol.ts'
import type { Ledger } from '../../stores/ledger.ts'
import type { Purge } from '../../stores/purges.ts'

/** The purge queue. Also works off purges queued by earlier or other processes. */
export interface Purges extends BackgroundJob {
  /**
   * Queues a purge of the image; with a known type, fewer URLs need purging. Call it before the object is removed, so that a
   * crash cannot lose the purge, and again afterwards, as a purge in between may have come before the end of a fill.
   */
  enqueue(id: string, type?: ImageType): Promise<void>
  /** Sends queued purges without waiting for the next interval. Never throws. */
  flush(): void
  /** Queue length, and the age of the oldest purge in seconds. `null` if no cache is configured. */
  pending(): Promise<{ count: number; oldestSeconds: number } | null>
}

/** Interval between checks for purges that are due. */
const INTERVAL_MS = 1000

/** How long deletions wait to be batched into one purge call. */
const BATCH_DELAY_MS = 200

/** Lease of a claim: if its process dies, another one takes over after this time, longer than any purge takes. */
const LEASE_MS = 15_000

/** For instances without a cache in front. */
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
  /** Called for every failed purge. */
  onFailure: (error: unknown, ids: string[]) => void
  intervalMs?: number
}): Purges {
  const { ledger, cdn, now, onFailure } = parts
  const job = createIntervalJob(run, parts.intervalMs ?? INTERVAL_MS, (error) => onFailure(error, []))
  let batchTimer: ReturnType<typeof setTimeout> | undefined
  /** No calls to the provider before this time. */
  let throttledUntil = 0

  /** A wait longer than a provider can request was set while the clock was ahead, and is ignored. */
  function isThrottled(): boolean {
    const remainingMs = throttledUntil - now()
    return remainingMs > 0 && remainingMs <= MAX_RETRY_AFTER_MS
  }

  /** Checks for due purges before taking a token of the provider's rate limit, as tokens are scarce. */
  async function run(): Promise<void> {
    clearTimeout(batchTimer)
    batchTimer = undefined
    while (!isThrottled() && (await ledger.isPurgeDue(now()))) {
      if (cdn.rate !== null) {
        const waitMs = await ledger.takeTokens(cdn.name, now(), cdn.rate)
        if (waitMs > 0) {
          throttledUntil = now() + waitMs
          return
        }
      }
      const due = await ledger.claimPurges(cdn.batchSize, now(), LEASE_MS)
      if (due.length === 0) return
      await send(due)
      // Purges queued meanwhile are flushed after this run: they share the next call instead of taking one each.
      if (due.length < cdn.batchSize) return
    }
  }

  async function send(due: Purge[]): Promise<void> {
    const ids = [...new Set(due.map(({ id }) => id))]
    const startedAt = now()
    try {
      await cdn.purge(ids)
    } catch (error) {
      onFailure(error, ids)
      const retryAfterMs = error instanceof RemoteFailure ? error.retryAfterMs : undefined
      await ledger.deferPurges(
        due,
        now() + (retryAfterMs ?? backoffMs(Math.max(...due.map(({ attempts }) => attempts)))),
      )
      if (retryAfterMs !== undefined) await throttle(now() + retryAfterMs)
      return
    }
    await ledger.settlePurges(due, startedAt, cdn.maxFillMs)
  }

  /** Applies the provider's `Retry-After` to all purges, on every server. */
  async function throttle(until: number): Promise<void> {
    throttledUntil = Math.max(throttledUntil, until)
    if (cdn.rate !== null) await ledger.blockTokens(cdn.name, until, cdn.rate)
  }

  function flush(): void {
    // With a rate-limited provider, deletions close together share one call.
    if (cdn.rate === null) job.runAgain()
    else batchTimer ??= setTimeout(job.runAgain, BATCH_DELAY_MS)
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
      clearTimeout(batchTimer)
      batchTimer = undefined
      await job.stop()
    },
  }
}
