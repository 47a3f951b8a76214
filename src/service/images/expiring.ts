/**
 * Removes expired images in batches, found by an index in the ledger; no folder is ever listed. If a process dies, another
 * one claims its batch when the lease ends. Expired images are not shown in the meantime, as their own records say when they
 * expire.
 */
import { type BackgroundJob, createIntervalJob, forEachConcurrent } from '../../async.ts'
import type { ClaimedExpiry } from '../../stores/expiries.ts'
import type { Ledger } from '../../stores/ledger.ts'
import { DamagedObject, type ObjectStore } from '../../stores/object-store.ts'
import { CORRECTION_MS, type ExpiryClock } from '../expiry-clock.ts'
import { expiryOf } from './expiry.ts'
import type { Images } from './images.ts'
import type { Purges } from './purges.ts'
import { recordAnywhere } from './status.ts'

const INTERVAL_MS = 5000

/** Images per claim. */
const BATCH = 256

/** Concurrent removals per process. Concurrent removals share a flush. */
const CONCURRENCY = 64

/** Lease of a claim: if its process dies, another one takes over after this time. */
const LEASE_MS = 30_000

/** An image that is still absent after this time was never stored: its upload failed. */
export const LOST_MS = 3_600_000

const RETRY_MS = 60_000

type Outcome = 'gone' | { retryAt: number }

export function createExpiring(parts: {
  objects: Pick<ObjectStore, 'head' | 'headHeld'>
  ledger: Ledger
  images: Pick<Images, 'expire'>
  purges: Pick<Purges, 'enqueue' | 'flush'>
  clock: ExpiryClock & { observe?(): Promise<void> }
  /** Called for every image that could not be removed, and with `null` for every failed run. */
  onFailure: (error: unknown, id: string | null) => void
  /** Maximum number of images per run. Default: all that are due. */
  maxPerRun?: number
}): BackgroundJob {
  const { objects, ledger, images, purges, clock, onFailure, maxPerRun = Number.POSITIVE_INFINITY } = parts

  async function run(isStopping: () => boolean): Promise<void> {
    await clock.observe?.()
    for (let remaining = maxPerRun; remaining > 0; ) {
      const now = Math.floor(clock.earliest()) - CORRECTION_MS
      if (!Number.isFinite(now) || ((await ledger.nextExpiry()) ?? Number.POSITIVE_INFINITY) > now) return
      const claimed = await ledger.claimExpiries(Math.min(BATCH, remaining), now, LEASE_MS)
      if (claimed.length === 0) return
      await removeBatch(claimed, now)
      remaining -= claimed.length
      if (isStopping()) return
    }
  }

  async function removeBatch(claimed: ClaimedExpiry[], now: number): Promise<void> {
    const gone: ClaimedExpiry[] = []
    const deferred = new Map<number, ClaimedExpiry[]>()
    await forEachConcurrent(claimed, CONCURRENCY, async (expiry) => {
      const outcome = await removeOne(expiry, now).catch((error): Outcome => {
        onFailure(error, expiry.id)
        return { retryAt: now + RETRY_MS }
      })
      if (outcome === 'gone') gone.push(expiry)
      else deferred.set(outcome.retryAt, [...(deferred.get(outcome.retryAt) ?? []), expiry])
    })
    purges.flush()
    await ledger.settleExpiries(gone)
    for (const [retryAt, expiries] of deferred) await ledger.deferExpiries(expiries, retryAt)
  }

  async function removeOne({ id, expiresAt }: ClaimedExpiry, now: number): Promise<Outcome> {
    // For an image that is too damaged to read, only the ledger knows the expiry time.
    const record = await recordAnywhere(objects, id).catch((error) => {
      if (error instanceof DamagedObject)
        return { expiresAt: new Date(expiresAt).toISOString(), type: undefined }
      throw error
    })
    if (record !== null) {
      const at = expiryOf(record)
      // This row belongs to an earlier, failed upload under the same ID.
      if (at === null) return 'gone'
      if (at > now) return { retryAt: at }
      await images.expire(id, record.type)
      return 'gone'
    }
    const why = await ledger.absenceReason(id)
    if (why?.state === 'held') return { retryAt: now + RETRY_MS }
    // Its upload may still be in progress.
    if (why === null || why.state === 'scanning')
      return now - expiresAt < LOST_MS ? { retryAt: now + RETRY_MS } : 'gone'
    // The process that removed the image may have died before its final purge.
    await purges.enqueue(id)
    return 'gone'
  }

  return createIntervalJob(run, INTERVAL_MS, (error) => onFailure(error, null))
}
