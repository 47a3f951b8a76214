/** Business rules for images: publish, find, open, remove. No HTTP, no SQL. */
import { Refusal } from '../../errors.ts'
import { type ImageType, KEY_PATTERN } from '../../protocol.ts'
import type { Absence } from '../../stores/holds.ts'
import { type Ledger, LedgerUnavailable } from '../../stores/ledger.ts'
import {
  dispose,
  type ImageRecord,
  type ObjectStore,
  type Removal,
  removeAnywhere,
  type Selection,
  type StoredImage,
} from '../../stores/object-store.ts'
import type { ExpiryClock } from '../expiry-clock.ts'
import { refuseFault } from '../faults.ts'
import type { Hashes } from '../hashes.ts'
import type { Metrics } from '../metrics.ts'
import { isExpired } from './expiry.ts'
import { equalInConstantTime, idOfKey } from './ids.ts'
import { createPublish, type Publish, takenDown } from './publish.ts'
import type { Purges } from './purges.ts'
import { treatDamagedAsPresent } from './status.ts'

export interface Images {
  publish: Publish
  /** `null` if there is no such image. Throws `Refusal` if the operator removed it (`removed`) or holds it (`held`). */
  find(id: string): Promise<ImageRecord | null>
  /** Whether there is an image, even one that is held, not scanned yet or private. Throws `Refusal('removed')`. */
  exists(id: string): Promise<boolean>
  /** Like `find`; also throws `UnsatisfiableRange`. */
  open(id: string, selection?: Selection): Promise<StoredImage | null>
  /** Removes the image that the deletion key belongs to, even if it is held. `false` if there is none. */
  remove(key: string): Promise<boolean>
  /** Removes an image without its key: it has expired, or got no verdict from the scanner in time. Idempotent. */
  expire(id: string, type?: ImageType): Promise<void>
}

/** After a ledger failure, absent images are not looked up in the ledger for this long. */
const LEDGER_PAUSE_MS = 1000

/**
 * All state is in the store and the ledger, which processes share. If either fails, all methods but `expire` throw a
 * `Refusal`: `unavailable` or `storage-full`. While images are private, `find` and `open` throw `unavailable`.
 */
export function createImages(parts: {
  objects: ObjectStore
  ledger: Ledger
  purges: Purges
  maxUploadBytes: number
  stripMetadata: boolean
  metrics: Metrics
  hashes: Hashes
  now: () => number
  expiryClock: Pick<ExpiryClock, 'latest'>
  /** Whether viewing is disabled. Checked on every view. */
  isPrivate?: () => boolean
  /** Whether deletions are replicated to a second location, by way of the ledger. Default: no. */
  isReplicated?: boolean
  scans?: Parameters<typeof createPublish>[0]['scans']
}): Images {
  const { objects, ledger, purges, metrics, hashes, expiryClock, isPrivate = () => false } = parts
  const publish = createPublish(parts)
  let ledgerFailedAt = -Infinity

  /**
   * While the ledger is unavailable, the store is checked for a held image instead: on a 404, its uploader would discard the
   * deletion key. A wrong URL then gets an immediate 404 rather than a 503 after a timeout.
   */
  async function absenceReason(id: string): Promise<Absence | null> {
    if (parts.now() - ledgerFailedAt >= LEDGER_PAUSE_MS) {
      try {
        return await ledger.absenceReason(id)
      } catch (error) {
        if (!(error instanceof LedgerUnavailable)) throw error
        ledgerFailedAt = parts.now()
      }
    }
    const held = await objects.headHeld(id).catch(treatDamagedAsPresent)
    return held === null ? null : { state: 'held', rule: '' }
  }

  /** For an absent image: resolves to `null` (404), or throws the operator's reason. */
  async function absent(id: string): Promise<null> {
    const why = await absenceReason(id)
    if (why === null || why.state === 'deleted') return null
    throw takenDown(why)
  }

  /** An expired image is hidden immediately, without asking the ledger. Its bytes are removed later. */
  function isShown(record: ImageRecord): boolean {
    return !isExpired(record, expiryClock)
  }

  function shown(image: StoredImage): StoredImage | null {
    if (isShown(image.record)) return image
    dispose(image).catch(() => {})
    return null
  }

  async function find(id: string): Promise<ImageRecord | null> {
    try {
      const record = await objects.head(id)
      if (record === null) return await absent(id)
      return isShown(record) ? record : null
    } catch (error) {
      return refuseFault(error)
    }
  }

  /** Only for images that are not visible: viewing or deleting a visible one needs no ledger lookup. */
  async function heldRecord(id: string): Promise<ImageRecord | null> {
    const why = await ledger.absenceReason(id)
    // With `deleted`, a process died in the middle of a deletion, so the image may still be there.
    return why !== null && why.state !== 'removed' ? objects.headHeld(id) : null
  }

  /**
   * Records the deletion, so that it also applies to older backups and to retries of the upload. An unavailable ledger must
   * not block a deletion; in that case the store alone must make sure that the ID is never reused. With a second location it
   * does block it: a restore relies on the tombstone, which only the ledger can record.
   */
  async function recordDeletion(id: string): Promise<Removal> {
    try {
      await ledger.recordDeletion(id, new Date(parts.now()))
      return { retire: 'unless-full' }
    } catch (error) {
      if (!(error instanceof LedgerUnavailable) || parts.isReplicated) throw error
      return { retire: 'surely' }
    }
  }

  /** Removes a visible or held image. `false` if it was already gone. */
  async function deleteImage(id: string, type?: ImageType): Promise<boolean> {
    // Before, so that a crash cannot lose the purge. And again afterwards, as a cache fill in flight may have put the image
    // back.
    await purges.enqueue(id, type)
    const removal = await recordDeletion(id)
    try {
      const removedFrom = await removeAnywhere(objects, id, removal)
      // The image may have been put on hold in the meantime.
      if (removedFrom === 'held') await ledger.recordHeldDeleted(id)
      return removedFrom !== null
    } finally {
      // Even if the store's response was lost: a retry would find no image and never purge.
      await purges.enqueue(id, type)
    }
  }

  return {
    publish: (body, options) => publish(body, options).catch(refuseFault),
    find: (id) => (isPrivate() ? Promise.reject(notShown()) : find(id)),
    async exists(id) {
      try {
        return (await find(id)) !== null
      } catch (error) {
        if (error instanceof Refusal && error.code === 'held') return true
        throw error
      }
    },
    // Saves two promises compared to `await`, which take almost as long as reading a small image.
    open: (id, selection) =>
      isPrivate()
        ? Promise.reject(notShown())
        : objects
            .open(id, selection)
            .then((image) => (image === null ? absent(id) : shown(image)))
            .catch(refuseFault),
    async remove(key) {
      if (!KEY_PATTERN.test(key)) return false
      const id = idOfKey(key)
      try {
        // `head` a second time, as the image may have been released between the first two lookups.
        const record = (await objects.head(id)) ?? (await heldRecord(id)) ?? (await objects.head(id))
        if (record === null || !equalInConstantTime(record.keySha256, hashes.sha256(key))) return false
        const removed = await deleteImage(id, record.type)
        purges.flush()
        if (removed) metrics.removalByKey()
        return removed
      } catch (error) {
        return refuseFault(error)
      }
    },
    async expire(id, type) {
      await deleteImage(id, type)
    },
  }
}

function notShown(): Refusal {
  return new Refusal(
    'unavailable',
    'Images are hidden while the operator checks a restored backup. Please try again later.',
  )
}
