/**
 * Removes the bytes of images that expired, in batches by an index of the ledger: no folder is ever listed. A batch whose
 * process dies is another's when its claim has ended. Until then nobody is shown the images: their own records say when
 * they expire.
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

/** Images of one claim. */
const BATCH = 256

/** Removals of one process that are under way at once: those that wait for a flush share it. */
const AT_ONCE = 64

/** How long a claim lasts if its process dies. */
const LEASE_MS = 30_000

/** After this time an upload that is not there was not stored. */
export const LOST_MS = 3_600_000

const RETRY_MS = 60_000

type Outcome = 'gone' | { retryAt: number }

export function createExpiring(parts: {
  objects: Pick<ObjectStore, 'head' | 'headHeld'>
  ledger: Ledger
  images: Pick<Images, 'expire'>
  purges: Pick<Purges, 'enqueue' | 'flush'>
  clock: ExpiryClock & { observe?(): Promise<void> }
  /** Hears of every image that could not be removed, and of every round that failed (`null`). */
  onFailure: (error: unknown, id: string | null) => void
  intervalMs?: number
  /** Most images of one round. Default: all that are due. */
  maxPerRun?: number
}): BackgroundJob {
  const { objects, ledger, images, purges, clock, onFailure, maxPerRun = Number.POSITIVE_INFINITY } = parts

  async function round(isStopping: () => boolean): Promise<void> {
    await clock.observe?.()
    for (let left = maxPerRun; left > 0; ) {
      const now = Math.floor(clock.earliest()) - CORRECTION_MS
      if (!Number.isFinite(now) || ((await ledger.nextExpiry()) ?? Number.POSITIVE_INFINITY) > now) return
      const claimed = await ledger.claimExpiries(Math.min(BATCH, left), now, LEASE_MS)
      if (claimed.length === 0) return
      await work(claimed, now)
      left -= claimed.length
      if (isStopping()) return
    }
  }

  async function work(claimed: ClaimedExpiry[], now: number): Promise<void> {
    const gone: ClaimedExpiry[] = []
    const later = new Map<number, ClaimedExpiry[]>()
    await forEachConcurrent(claimed, AT_ONCE, async (expiry) => {
      const outcome = await removeOne(expiry, now).catch((error): Outcome => {
        onFailure(error, expiry.id)
        return { retryAt: now + RETRY_MS }
      })
      if (outcome === 'gone') gone.push(expiry)
      else later.set(outcome.retryAt, [...(later.get(outcome.retryAt) ?? []), expiry])
    })
    purges.flush()
    await ledger.settleExpiries(gone)
    for (const [retryAt, expiries] of later) await ledger.deferExpiries(expiries, retryAt)
  }

  async function removeOne({ id, expiresAt }: ClaimedExpiry, now: number): Promise<Outcome> {
    // Only the ledger knows about an image that can't be read any more.
    const record = await recordAnywhere(objects, id).catch((error) => {
      if (error instanceof DamagedObject)
        return { expiresAt: new Date(expiresAt).toISOString(), type: undefined }
      throw error
    })
    if (record !== null) {
      const at = expiryOf(record)
      // This row is of an earlier upload under the same id, which failed.
      if (at === null) return 'gone'
      if (at > now) return { retryAt: at }
      await images.expire(id, record.type)
      return 'gone'
    }
    const why = await ledger.whyAbsent(id)
    if (why?.state === 'held') return { retryAt: now + RETRY_MS }
    // It may be on its way still.
    if (why === null || why.state === 'scanning')
      return now - expiresAt < LOST_MS ? { retryAt: now + RETRY_MS } : 'gone'
    // The process that removed it may have died before its last purge.
    await purges.enqueue(id)
    return 'gone'
  }

  return createIntervalJob(round, parts.intervalMs ?? INTERVAL_MS, (error) => onFailure(error, null))
}
