/** The product's rules for images: publish, open, remove. No HTTP, no SQL. */
import { Refusal } from '../errors.ts'
import { isWhole, lengthOf, type Segment } from '../formats/image.ts'
import { inspect } from '../formats/inspect.ts'
import { KEY_PATTERN } from '../protocol.ts'
import { type Ledger, LedgerUnavailable } from '../stores/ledger.ts'
import type { Draft, ImageRecord, ObjectStore, Selection, StoredImage } from '../stores/object-store.ts'
import { refuseFault } from './faults.ts'
import type { Hashes } from './hashes.ts'
import { equalInConstantTime, idOfKey, newId, newKey } from './ids.ts'
import type { Metrics } from './metrics.ts'
import type { Purges } from './purges.ts'
import { createSemaphore, type Semaphore } from './semaphore.ts'

export interface Images {
  /**
   * Stores an image. When it resolves, the image survives a crash. Throws `Refusal`, and what `body` throws; then
   * nothing is stored. `mostBytes`: more than this is known not to come.
   */
  publish(body: AsyncIterable<Uint8Array>, mostBytes?: number): Promise<{ record: ImageRecord; key: string }>
  /** `null` if there is none. Throws `Refusal` if the operator removed it (`removed`) or holds it (`held`). */
  find(id: string): Promise<ImageRecord | null>
  /** As `find`; throws `UnsatisfiableRange` too, and what `signal` says. */
  open(id: string, selection?: Selection, signal?: AbortSignal): Promise<StoredImage | null>
  /** Removes the image that the key belongs to, also a held one. `false` if there is none. */
  remove(key: string): Promise<boolean>
}

/** Reading a draft of more than this takes many reads: not all clients' at once, or their windows fill the memory. */
const LARGE_DRAFT_BYTES = 256 * 1024
const LARGE_READS_AT_ONCE = 4
/** A commit holds less, and waits for a store that may be far away. */
const LARGE_COMMITS_AT_ONCE = 64

/** For so long a ledger that failed is not asked about images that are not there. */
const LEDGER_PAUSE_MS = 1000

export function createImages(parts: {
  objects: ObjectStore
  ledger: Ledger
  purges: Purges
  maxUploadBytes: number
  stripMetadata: boolean
  metrics: Metrics
  hashes: Hashes
  now: () => number
}): Images {
  const { objects, ledger, purges, metrics, hashes } = parts
  const largeReads = createSemaphore(LARGE_READS_AT_ONCE)
  const largeCommits = createSemaphore(LARGE_COMMITS_AT_ONCE)

  async function publish(body: AsyncIterable<Uint8Array>, mostBytes: number) {
    const draft = await objects.draft(body, Math.min(parts.maxUploadBytes, mostBytes))
    const inTurn = <T>(semaphore: Semaphore, work: () => Promise<T>) =>
      draft.size > LARGE_DRAFT_BYTES ? semaphore.run(work) : work()
    const inspected = await inTurn(largeReads, () => examine(draft)).catch(async (error) => {
      await draft.discard()
      throw error
    })
    const { segments, ...facts } = inspected
    const id = newId()
    const key = newKey(id)
    const record: ImageRecord = {
      id,
      ...facts,
      size: lengthOf(segments),
      keySha256: hashes.sha256(key),
      createdAt: new Date(parts.now()).toISOString(),
    }
    // The end of the draft, whatever comes of it.
    await inTurn(largeCommits, () => draft.commit(record, segments))
    return { record, key }
  }

  /** Everything that a draft may be refused for. */
  async function examine(draft: Draft) {
    if (draft.size === 0) throw new Refusal('missing-file', 'The file is empty.')
    const { type, width, height, animated, segments } = await inspect(draft, { strip: parts.stripMetadata })
    const { sha256, sentSha256 } = await digests(draft, segments)
    if (await ledger.isBlocked(sha256 === sentSha256 ? [sha256] : [sha256, sentSha256])) {
      throw new Refusal('blocked-image', 'The operator of this server removed this image and blocked it.')
    }
    return { type, width, height, animated, sha256, sentSha256, segments }
  }

  let ledgerFailedAt = -Infinity

  /** A ledger that is away must not turn each wrong address into a wait and a 503: who can't be told why gets a 404. */
  async function askWhyAbsent(id: string) {
    if (parts.now() - ledgerFailedAt < LEDGER_PAUSE_MS) return null
    try {
      return await ledger.whyAbsent(id)
    } catch (error) {
      if (!(error instanceof LedgerUnavailable)) throw error
      ledgerFailedAt = parts.now()
      return null
    }
  }

  /** Nothing is there: is that the operator's doing? */
  async function absent(id: string): Promise<null> {
    const why = await askWhyAbsent(id)
    if (why === null) return null
    throw why === 'held'
      ? new Refusal('held', 'The operator of this server is checking this image.')
      : new Refusal('removed', 'The operator of this server removed this image.')
  }

  /** A view of an image that is there asks no ledger, and a deletion of one neither. */
  async function heldRecord(id: string): Promise<ImageRecord | null> {
    return (await ledger.whyAbsent(id)) === 'held' ? objects.headHeld(id) : null
  }

  /** It may have been held since it was looked at. */
  async function removeHeld(id: string): Promise<boolean> {
    const removed = await objects.removeHeld(id)
    if (removed) await ledger.forgetHold(id)
    return removed
  }

  return {
    publish: (body, mostBytes = Number.POSITIVE_INFINITY) => publish(body, mostBytes).catch(refuseFault),
    async find(id) {
      try {
        return (await objects.head(id)) ?? (await absent(id))
      } catch (error) {
        return refuseFault(error)
      }
    },
    async open(id, selection, signal) {
      try {
        return (await objects.open(id, selection, signal)) ?? (await absent(id))
      } catch (error) {
        return refuseFault(error)
      }
    },
    async remove(key) {
      if (!KEY_PATTERN.test(key)) return false
      const id = idOfKey(key)
      try {
        const record = (await objects.head(id)) ?? (await heldRecord(id))
        if (record === null || !equalInConstantTime(record.keySha256, hashes.sha256(key))) return false
        await purges.owe(id)
        const removed = (await objects.remove(id)) || (await removeHeld(id))
        await purges.owe(id)
        purges.hurry()
        if (removed) metrics.removalByKey()
        return removed
      } catch (error) {
        return refuseFault(error)
      }
    },
  }
}

async function digests(draft: Draft, segments: Segment[]): Promise<{ sha256: string; sentSha256: string }> {
  const sentSha256 = await draft.digest([{ offset: 0, length: draft.size }])
  if (isWhole(segments, draft.size)) return { sha256: sentSha256, sentSha256 }
  return { sha256: await draft.digest(segments), sentSha256 }
}
