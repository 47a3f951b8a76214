/** Brings images from one store into another: each once, whole, and with the digest of its record. */

import { sleep } from '../../async.ts'
import type { Segment } from '../../formats/image.ts'
import type { Expiry } from '../../stores/expiries.ts'
import {
  DamagedObject,
  type Draft,
  dispose,
  IdTaken,
  type ImageRecord,
  isCopyOf,
  type ObjectStore,
  piecesOf,
  type Selection,
  type StoredImage,
  StoreUnavailable,
  storedSize,
} from '../../stores/object-store.ts'
import { expiryOf } from '../images/expiry.ts'

export interface Transfer {
  /** Brought over. */
  copied: number
  bytes: number
  /** Already there. */
  kept: number
  /** Ids that can't be read, or whose bytes are not those of their record. */
  damaged: string[]
  /** Ids that were there and damaged, and are whole again. */
  healed: string[]
}

const AT_ONCE = 16

/**
 * Brings over what `to` has not. Both are listed in one order, so that nothing is asked for twice and an interrupted
 * transfer goes on where it was. What is held in `from` is held in `to`, and the other way round. `bytesPerSecond`: an
 * upper bound, `null` for none. `heal`: reads what is there already, and replaces what is damaged. `staysHeld`: ids that are
 * not released in `to`, since somebody who knows better holds them.
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
  // Few: each is a decision of the operator's.
  const held = await setOf(to.listHeld())
  /** Held before `from` is listed, and not listed yet: one that is released meanwhile may be in neither of its lists. */
  const unseen = await setOf(from.listHeld())

  function count(bytes: number | null): void {
    if (bytes === null) transfer.kept++
    else {
      transfer.copied++
      transfer.bytes += bytes
    }
  }

  async function mend(id: string, source: Source): Promise<void> {
    if (heal && (await healImage(id, source, to))) transfer.healed.push(id)
  }

  async function bring(id: string, isThere: boolean): Promise<void> {
    try {
      // Released since the last transfer.
      const isHeld = held.delete(id)
      if (isThere || isHeld) await mend(id, from)
      if (isHeld && !staysHeld?.has(id)) await to.release(id)
      count(isThere || isHeld ? null : await copyImage(id, from, to))
    } catch (error) {
      if (error instanceof DamagedObject) transfer.damaged.push(id)
      else failures.push(error)
    }
    onProgress?.(transfer, id)
  }

  async function bringHeld(id: string): Promise<void> {
    const source = { open: from.openHeld }
    try {
      await mend(id, source)
      if (held.has(id)) return
      const bytes = await copyImage(id, source, to)
      // It may have been visible when it was brought over first.
      await to.hold(id)
      transfer.copied++
      transfer.bytes += bytes ?? 0
    } catch (error) {
      if (!(error instanceof DamagedObject)) throw error
      transfer.damaged.push(id)
    }
  }

  for await (const { id, isThere } of compared(from.list(), to.list())) {
    if (failures.length > 0) break
    unseen.delete(id)
    if (isThere && !heal) {
      transfer.kept++
      continue
    }
    if (bytesPerSecond !== null)
      await sleep((transfer.bytes / bytesPerSecond) * 1000 - (performance.now() - startedAt))
    const work = bring(id, isThere).finally(() => inFlight.delete(work))
    inFlight.add(work)
    if (inFlight.size >= AT_ONCE) await Promise.race(inFlight)
  }
  await Promise.all(inFlight)
  if (failures.length === 0) {
    for await (const id of from.listHeld()) {
      unseen.delete(id)
      await bringHeld(id)
    }
    for (const id of unseen) {
      if (await isIn(from.head(id))) await bring(id, await isIn(to.head(id)))
      else if (await isIn(from.headHeld(id))) await bringHeld(id)
    }
  }
  if (failures.length > 0) throw failures[0]
  return transfer
}

/** Removes from `to` what `from` has no more, neither visible nor held. How many. */
export async function pruneImages(from: ObjectStore, to: ObjectStore): Promise<number> {
  let pruned = 0
  for await (const { id, isThere } of compared(to.list(), from.list())) {
    if (!isThere && !(await isAnywhere(id, from)) && (await to.remove(id))) pruned++
  }
  for await (const id of to.listHeld()) {
    if (!(await isAnywhere(id, from)) && (await to.removeHeld(id))) pruned++
  }
  return pruned
}

/** Also one that is held or released between the questions: it is asked for as visible before and after. */
async function isAnywhere(id: string, { head, headHeld }: ObjectStore): Promise<boolean> {
  return (await isIn(head(id))) || (await isIn(headHeld(id))) || (await isIn(head(id)))
}

/** A damaged one is there. */
async function isIn(record: Promise<ImageRecord | null>): Promise<boolean> {
  try {
    return (await record) !== null
  } catch (error) {
    if (isUnreadable(error)) return true
    throw error
  }
}

/**
 * Replaces the image in `to` if it is damaged, visible or held. `false` if it is sound, or there is none. Throws
 * `DamagedObject` if it is damaged in both.
 */
export async function healImage(id: string, from: Source, to: ObjectStore): Promise<boolean> {
  if (!(await isDamaged(id, to))) return false
  const isReplaced = await readWhole(id, from, to, async (draft, record) => {
    return (await draft.replace(record, wholeOf(draft))) !== null
  })
  if (isReplaced === null) throw new DamagedObject(id, { cause: new Error('there is no other copy') })
  return isReplaced
}

/** Reads all of an image, visible or held. `false` also if there is none. */
export async function isDamaged(id: string, { verify, openHeld }: ObjectStore): Promise<boolean> {
  try {
    if ((await verify(id)) !== null) return false
    for (const part of ['all', 'preview'] as const) {
      const held = await openHeld(id, part)
      if (held !== null) for await (const _ of piecesOf(held.body));
      held?.release?.()
    }
    return false
  } catch (error) {
    if (isUnreadable(error)) return true
    throw error
  }
}

/** A sector that the disk can't read is an image that is damaged. */
function isUnreadable(error: unknown): boolean {
  const { cause } = error as { cause?: { code?: unknown } }
  return error instanceof DamagedObject || (error instanceof StoreUnavailable && cause?.code === 'EIO')
}

/** How much was stored, or `null` if it was there or is gone. Throws `DamagedObject`. */
export function copyImage(id: string, from: Source, to: ObjectStore): Promise<number | null> {
  return readWhole(id, from, to, async (draft, record) => {
    try {
      // What was retired there stays away.
      await draft.commit(record, wholeOf(draft), { isContended: true })
      return storedSize(record)
    } catch (error) {
      if (error instanceof IdTaken) return null
      throw error
    }
  })
}

/**
 * The same images without those that expired by `now` (epoch milliseconds). `onExpiring` hears of each that is to expire,
 * before it is opened.
 */
export function unexpired(
  store: ObjectStore,
  now: () => number,
  onExpiring: (expiry: Expiry) => Promise<void> = async () => {},
): ObjectStore {
  const only =
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
  return { ...store, open: only(store.open), openHeld: only(store.openHeld) }
}

export interface Source {
  open(id: string, selection: Selection): Promise<StoredImage | null>
}

/** `use`: of a draft in `to` whose bytes are those of the record. `null` if there is no image. Throws `DamagedObject`. */
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
      draft = await to.draft(piecesOf(image.body), storedSize(record))
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

/** Those of `wanted`, and whether `known` has them. Both in ascending order. */
export async function* compared(
  wanted: AsyncIterable<string>,
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

export async function setOf(ids: AsyncIterable<string>): Promise<Set<string>> {
  const all = new Set<string>()
  for await (const id of ids) all.add(id)
  return all
}
