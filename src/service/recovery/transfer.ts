/** Copies images from one store to another, and verifies each copy against the digest in its record. */

import { sleep } from '../../async.ts'
import type { Segment } from '../../formats/image.ts'
import type { Expiry } from '../../stores/expiries.ts'
import {
  chunksOf,
  DamagedObject,
  type Draft,
  dispose,
  IdTaken,
  type ImageRecord,
  isAnywhere,
  isCopyOf,
  isUnreadable,
  type ObjectStore,
  type Selection,
  type StoredImage,
  storedSize,
} from '../../stores/object-store.ts'
import { expiryOf } from '../images/expiry.ts'

export interface Transfer {
  copied: number
  bytes: number
  /** Already in the target. */
  kept: number
  /** IDs that cannot be read, or whose bytes don't match their record. */
  damaged: string[]
  /** IDs that were damaged in the target and have been repaired. */
  healed: string[]
}

const CONCURRENCY = 16

/**
 * Copies images missing in `to`. Merges two sorted listings, so that no image needs a lookup and an interrupted transfer can
 * resume. Images are held in `to` exactly if they are held in `from`. Lists `from` twice, as an image that is held or
 * released meanwhile may appear in neither listing. `bytesPerSecond`: rate limit, `null` for none. `heal`: verifies images
 * that already exist, and replaces damaged ones. `staysHeld`: IDs not to be released in `to`, as they are held for another
 * reason.
 */
export async function transferImages(options: {
  from: ObjectStore
  to: ObjectStore
  bytesPerSecond: number | null
  heal?: boolean
  staysHeld?: ReadonlySet<string>
  onProgress?: (transfer: Transfer, id: string) => void
}): Promise<Transfer> {
  const { from, to, bytesPerSecond, heal = false, staysHeld, onProgress } = options
  const transfer: Transfer = { copied: 0, bytes: 0, kept: 0, damaged: [], healed: [] }
  const startedAt = performance.now()
  const inFlight = new Set<Promise<void>>()
  const failures: unknown[] = []
  // Fits in memory: each hold is a decision of the operator's.
  const held = new Set(await Array.fromAsync(to.listHeld()))
  const damaged = new Set<string>()

  function countCopied(bytes: number): void {
    transfer.copied++
    transfer.bytes += bytes
  }

  async function healIfAsked(id: string, source: Source): Promise<void> {
    if (heal && (await healImage(id, source, to))) transfer.healed.push(id)
  }

  async function transferVisible(id: string, isThere: boolean, isFirst: boolean): Promise<void> {
    try {
      const isHeld = held.has(id)
      if (isThere || isHeld) {
        await healIfAsked(id, from)
        // Released since it was copied.
        if (isHeld && !staysHeld?.has(id) && (await to.release(id))) held.delete(id)
        if (isFirst) transfer.kept++
      } else {
        const bytes = await copyImage(id, from, to)
        if (bytes !== null) countCopied(bytes)
      }
    } catch (error) {
      if (error instanceof DamagedObject) damaged.add(id)
      else failures.push(error)
    }
    onProgress?.(transfer, id)
  }

  async function transferHeld(id: string): Promise<void> {
    const source = { open: from.openHeld }
    try {
      await healIfAsked(id, source)
      if (held.has(id)) return
      const bytes = await copyImage(id, source, to)
      // An earlier transfer may have copied it while it was visible.
      if (!(await to.hold(id))) return
      held.add(id)
      countCopied(bytes ?? 0)
    } catch (error) {
      if (!(error instanceof DamagedObject)) throw error
      damaged.add(id)
    }
  }

  async function transferListed(isFirst: boolean): Promise<void> {
    for await (const { id, isThere } of compareListings(from.list(), to.list())) {
      if (failures.length > 0) break
      if (isThere && !(heal && isFirst)) {
        if (isFirst) transfer.kept++
        continue
      }
      if (bytesPerSecond !== null)
        await sleep((transfer.bytes / bytesPerSecond) * 1000 - (performance.now() - startedAt))
      const work = transferVisible(id, isThere, isFirst).finally(() => inFlight.delete(work))
      inFlight.add(work)
      if (inFlight.size >= CONCURRENCY) await Promise.race(inFlight)
    }
    await Promise.all(inFlight)
    if (failures.length > 0) throw failures[0]
    for await (const id of from.listHeld()) await transferHeld(id)
  }

  await transferListed(true)
  await transferListed(false)
  return { ...transfer, damaged: [...damaged] }
}

/** Removes images from `to` that `from` no longer has, neither visible nor held. Returns their number. */
export async function pruneImages(from: ObjectStore, to: ObjectStore): Promise<number> {
  let pruned = 0
  for await (const { id, isThere } of compareListings(to.list(), from.list())) {
    if (!isThere && !(await isAnywhere(from, id)) && (await to.remove(id))) pruned++
  }
  for await (const id of to.listHeld()) {
    if (!(await isAnywhere(from, id)) && (await to.removeHeld(id))) pruned++
  }
  return pruned
}

/**
 * Replaces the image in `to`, visible or held, if it is damaged. `false` if it is intact or absent. Throws `DamagedObject`
 * if it is damaged in both stores.
 */
export async function healImage(id: string, from: Source, to: ObjectStore): Promise<boolean> {
  if (!(await isDamaged(id, to))) return false
  const isReplaced = await readWhole(id, from, to, async (draft, record) => {
    return (await draft.replace(record, wholeOf(draft))) !== null
  })
  if (isReplaced === null) throw new DamagedObject(id, { cause: new Error('there is no other copy') })
  return isReplaced
}

/** Verifies an image, visible or held, by reading all of it. `false` if it is intact or absent. */
export async function isDamaged(id: string, { verify, openHeld }: ObjectStore): Promise<boolean> {
  try {
    if ((await verify(id)) !== null) return false
    for (const part of ['all', 'preview'] as const) {
      const held = await openHeld(id, part)
      if (held !== null) for await (const _ of chunksOf(held.body));
      held?.release?.()
    }
    return false
  } catch (error) {
    if (isUnreadable(error)) return true
    throw error
  }
}

/** Returns the bytes stored. `null` if the image already exists in `to` or is absent from `from`. Throws `DamagedObject`. */
export function copyImage(id: string, from: Source, to: ObjectStore): Promise<number | null> {
  return readWhole(id, from, to, async (draft, record) => {
    try {
      // `isContended`, so that an ID retired in `to` is not reused.
      await draft.commit(record, wholeOf(draft), { isContended: true })
      return storedSize(record)
    } catch (error) {
      if (error instanceof IdTaken) return null
      throw error
    }
  })
}

/**
 * A view of the store whose `open` and `openHeld` skip images that expired by `now` (epoch milliseconds). `onExpiring` is
 * called for each other image with an expiry time, before it is returned.
 */
export function unexpired(
  store: ObjectStore,
  now: () => number,
  onExpiring: (expiry: Expiry) => Promise<void> = async () => {},
): ObjectStore {
  const filtered =
    (open: Source['open']): Source['open'] =>
    async (id, selection) => {
      const image = await open(id, selection)
      const expiresAt = image && expiryOf(image.record)
      if (expiresAt === null) return image
      if (now() < expiresAt) {
        await onExpiring({ id, expiresAt })
        return image
      }
      await dispose(image!)
      return null
    }
  return { ...store, open: filtered(store.open), openHeld: filtered(store.openHeld) }
}

export interface Source {
  open(id: string, selection: Selection): Promise<StoredImage | null>
}

/** Copies an image into a draft in `to`, verifies it and calls `use`. `null` if there is no image. Throws `DamagedObject`. */
async function readWhole<T>(
  id: string,
  from: Source,
  to: ObjectStore,
  use: (draft: Draft, record: ImageRecord) => Promise<T>,
): Promise<T | null> {
  let draft: Draft
  let record: ImageRecord
  try {
    const image = await from.open(id, 'stored')
    if (image === null) return null
    record = image.record
    try {
      draft = await to.draft(chunksOf(image.body), storedSize(record))
    } finally {
      image.release?.()
    }
  } catch (error) {
    throw isUnreadable(error) ? new DamagedObject(id, { cause: error }) : error
  }
  try {
    if (!(await isCopyOf(record, draft))) throw new DamagedObject(id)
    return await use(draft, record)
  } finally {
    await draft.discard()
  }
}

function wholeOf({ size }: Draft): Segment[] {
  return [{ offset: 0, length: size }]
}

/** Merges two ascending listings: yields each ID of `wanted`, and whether `known` has it. */
export async function* compareListings(
  wanted: AsyncIterable<string> | Iterable<string>,
  known: AsyncIterable<string>,
): AsyncGenerator<{ id: string; isThere: boolean }> {
  const others = known[Symbol.asyncIterator]()
  try {
    let other = await others.next()
    for await (const id of wanted) {
      while (!other.done && other.value < id) other = await others.next()
      yield { id, isThere: !other.done && other.value === id }
    }
  } finally {
    await others.return?.()
  }
}
