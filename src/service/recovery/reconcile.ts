/** A store or a ledger that is older than the other, as a restored copy is, brought to what is known of both. */
import type { Ledger } from '../../stores/ledger.ts'
import { DamagedObject, type ObjectStore, removeAnywhere } from '../../stores/object-store.ts'
import type { Tombstone } from '../../stores/tombstones.ts'
import { lastOf } from './tombstone-files.ts'
import { compared, setOf } from './transfer.ts'

/** Ids of one question. */
const PAGE = 1000

/** Ids that must not be there, in order. */
export async function* goneIds(ledger: Pick<Ledger, 'goneIds'>): AsyncGenerator<string> {
  for (let last = ''; ; ) {
    const page = await ledger.goneIds(last, PAGE)
    yield* page
    if (page.length < PAGE) return
    last = page.at(-1)!
  }
}

/** Removes what is gone by the ledger. The ids that were there. */
export async function removeGone(ledger: Pick<Ledger, 'goneIds'>, objects: ObjectStore): Promise<string[]> {
  const held = await setOf(objects.listHeld())
  const removed: string[] = []
  // Both are in one order. To ask the store for each of a million ids would take hours.
  for await (const { id, isThere } of compared(goneIds(ledger), objects.list())) {
    if (!isThere && !held.has(id)) continue
    if ((await removeAnywhere(objects, id)) !== null) removed.push(id)
  }
  return removed
}

/**
 * Records what was deleted while the ledger was away: the store alone remembers, by an id that it retired. `copy`: of the
 * store, from before; only what it still has matters.
 */
export async function recordRetired(
  ledger: Pick<Ledger, 'isGone' | 'recordDeletion'>,
  objects: ObjectStore,
  copy: ObjectStore,
  now: () => number,
): Promise<void> {
  async function record(id: string): Promise<void> {
    const found = await objects.headDurable(id).catch((error) => {
      if (!(error instanceof DamagedObject)) throw error
      return null
    })
    if (found === 'retired' && !(await ledger.isGone(id))) await ledger.recordDeletion(id, new Date(now()))
  }

  for await (const { id, isThere } of compared(copy.list(), objects.list())) {
    if (!isThere) await record(id)
  }
  for await (const id of copy.listHeld()) await record(id)
}

/** Held by the operator, or hidden until it is scanned. */
export async function isToBeHeld(id: string, ledger: Pick<Ledger, 'whyAbsent'>): Promise<boolean> {
  const state = (await ledger.whyAbsent(id))?.state
  return state === 'held' || state === 'scanning'
}

/** Holds what is held by the ledger, and nothing else. Ids that could not be released, because they are damaged. */
export async function holdAsDecided(
  ledger: Pick<Ledger, 'heldIds'>,
  objects: ObjectStore,
): Promise<string[]> {
  const damaged: string[] = []
  const held = new Set(await ledger.heldIds(Number.MAX_SAFE_INTEGER))
  for (const id of held) await objects.hold(id)
  for await (const id of objects.listHeld()) {
    if (held.has(id)) continue
    await objects.release(id).catch((error) => {
      if (!(error instanceof DamagedObject)) throw error
      damaged.push(id)
    })
  }
  return damaged
}

/** Brings a ledger that knows nothing, and the store beside it, to what tombstones tell. What is held stays held. */
export async function applyToAll(
  tombstones: readonly Tombstone[],
  ledger: Ledger,
  objects: ObjectStore,
): Promise<void> {
  await ledger.applyTombstones(lastOf(tombstones))
  await bringStoreUp(ledger, objects)
}

/** Removes and holds in a store, which is a copy, what the ledger says. Doing it twice is harmless. How many were visible. */
export async function bringStoreUp(
  ledger: Pick<Ledger, 'goneIds' | 'heldIds'>,
  objects: ObjectStore,
): Promise<{ removed: number; held: number }> {
  const removed = await removeGone(ledger, objects)
  let held = 0
  for (const id of await ledger.heldIds(Number.MAX_SAFE_INTEGER)) if (await objects.hold(id)) held++
  return { removed: removed.length, held }
}
