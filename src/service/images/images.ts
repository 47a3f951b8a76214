/** The product's rules for images: publish, find, open, remove. No HTTP, no SQL. */
import { Refusal } from '../../errors.ts'
import { type ImageType, KEY_PATTERN } from '../../protocol.ts'
import type { WhyAbsent } from '../../stores/holds.ts'
import { type Ledger, LedgerUnavailable } from '../../stores/ledger.ts'
import {
  dispose,
  type ImageRecord,
  type ObjectStore,
  type Removal,
  removeAnywhere,
  type Selection,
  type Signal,
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
import { damagedIsThere } from './status.ts'

export interface Images {
  publish: Publish
  /** `null` if there is none. Throws `Refusal` if the operator removed it (`removed`) or holds it (`held`). */
  find(id: string): Promise<ImageRecord | null>
  /** As `find`; throws `UnsatisfiableRange` too, and an `AbortError`. */
  open(id: string, selection?: Selection, signal?: Signal): Promise<StoredImage | null>
  /** Removes the image that the key belongs to, also a held one. `false` if there is none. */
  remove(key: string): Promise<boolean>
  /** Removes an image as its key would. Harmless if it is gone. */
  expire(id: string, type?: ImageType): Promise<void>
}

/** How long the ledger is not asked about absent images after it failed. */
const LEDGER_PAUSE_MS = 1000

/**
 * Processes share the store and the ledger, and keep nothing of an image themselves. Where the store or the ledger fails, all
 * methods but `expire` throw `Refusal`: `unavailable` or `storage-full`. While images are private, `find` and `open` throw
 * `unavailable`.
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
  /** Whether nobody is shown a picture now. To be asked for each view. */
  isPrivate?: () => boolean
  scans?: Parameters<typeof createPublish>[0]['scans']
}): Images {
  const { objects, ledger, purges, metrics, hashes, expiryClock, isPrivate = () => false } = parts
  const publish = createPublish(parts)
  let ledgerFailedAt = -Infinity

  /**
   * While the ledger is away the store tells what is held: a 404 would have its owner forget the key. A wrong address then
   * answers 404 at once, not 503 after a timeout.
   */
  async function askWhyAbsent(id: string): Promise<WhyAbsent | null> {
    if (parts.now() - ledgerFailedAt >= LEDGER_PAUSE_MS) {
      try {
        return await ledger.whyAbsent(id)
      } catch (error) {
        if (!(error instanceof LedgerUnavailable)) throw error
        ledgerFailedAt = parts.now()
      }
    }
    const held = await objects.headHeld(id).catch(damagedIsThere)
    return held === null ? null : { state: 'held', rule: '' }
  }

  /** The answer for an image that is not there: 404, or the operator's reason. */
  async function absent(id: string): Promise<null> {
    const why = await askWhyAbsent(id)
    if (why === null || why.state === 'deleted') return null
    throw takenDown(why)
  }

  /** The bytes of one that expired go later. No ledger is asked about it. */
  function isShown(record: ImageRecord): boolean {
    return !isExpired(record, expiryClock)
  }

  function shown(image: StoredImage): StoredImage | null {
    if (isShown(image.record)) return image
    dispose(image).catch(() => {})
    return null
  }

  /** A view of an image that is there asks no ledger, and a deletion of one neither. */
  async function heldRecord(id: string): Promise<ImageRecord | null> {
    const why = await ledger.whyAbsent(id)
    // `deleted`: a process died in the middle of it.
    return why !== null && why.state !== 'removed' ? objects.headHeld(id) : null
  }

  /**
   * For backups from before, and for those who repeat the upload. A ledger that is away must not keep an image from being
   * deleted: then the store alone knows that the id is never given again, and must.
   */
  async function remember(id: string): Promise<Removal> {
    try {
      await ledger.recordDeletion(id, new Date(parts.now()))
      return { retire: 'unless-full' }
    } catch (error) {
      if (!(error instanceof LedgerUnavailable)) throw error
      return { retire: 'surely' }
    }
  }

  /** Also of a held one. `false` if somebody else was faster, or nothing was there. */
  async function takeAway(id: string, type?: ImageType): Promise<boolean> {
    // Before, so that no crash loses the purge; and again after: a fill that was under way may have put the image back.
    await purges.enqueue(id, type)
    const removal = await remember(id)
    try {
      const wasIn = await removeAnywhere(objects, id, removal)
      // It may have been held since it was looked at.
      if (wasIn === 'held') await ledger.recordHeldGone(id)
      return wasIn !== null
    } finally {
      // Also where the store's answer was lost: who asks once more is told that there is none.
      await purges.enqueue(id, type)
    }
  }

  return {
    publish: (body, options) => publish(body, options).catch(refuseFault),
    async find(id) {
      if (isPrivate()) throw notShown()
      try {
        const record = await objects.head(id)
        if (record === null) return await absent(id)
        return isShown(record) ? record : null
      } catch (error) {
        return refuseFault(error)
      }
    },
    // Two promises fewer than with `await`: a small image is read in little more time than they take.
    open: (id, selection, signal) =>
      isPrivate()
        ? Promise.reject(notShown())
        : objects
            .open(id, selection, signal)
            .then((image) => (image === null ? absent(id) : shown(image)))
            .catch(refuseFault),
    async remove(key) {
      if (!KEY_PATTERN.test(key)) return false
      const id = idOfKey(key)
      try {
        // Once more: it may be released between the two.
        const record = (await objects.head(id)) ?? (await heldRecord(id)) ?? (await objects.head(id))
        if (record === null || !equalInConstantTime(record.keySha256, hashes.sha256(key))) return false
        const removed = await takeAway(id, record.type)
        purges.flush()
        if (removed) metrics.removalByKey()
        return removed
      } catch (error) {
        return refuseFault(error)
      }
    },
    async expire(id, type) {
      await takeAway(id, type)
    },
  }
}

function notShown(): Refusal {
  return new Refusal('unavailable', 'Pictures are not shown now: the operator is checking what was restored.')
}
