/** Reconciles store and ledger after one of them was restored from an older copy. */
import type { Ledger } from '../../stores/ledger.ts'
import { DamagedObject, type ObjectStore, removeAnywhere } from '../../stores/object-store.ts'
import type { Tombstone } from '../../stores/tombstones.ts'
import { latestPerSubject } from './tombstone-files.ts'
import { compareListings } from './transfer.ts'

const PAGE_SIZE = 1000

/** IDs of images that must not exist any more, in ascending order. */
export async function* removedIds(ledger: Pick<Ledger, 'removedIds'>): AsyncGenerator<string> {
  for (let last = ''; ; ) {
    const page = await ledger.removedIds(last, PAGE_SIZE)
    yield* page
    if (page.length < PAGE_SIZE) return
    last = page.at(-1)!
  }
}

/** Removes images that are gone according to the ledger, after `onFound`. Returns the IDs that still existed. */
export async function removeGone(
  ledger: Pick<Ledger, 'removedIds'>,
  objects: ObjectStore,
  onFound: (id: string) => Promise<void> = async () => {},
): Promise<string[]> {
  const held = new Set(await Array.fromAsync(objects.listHeld()))
  const removed: string[] = []
  // Merges two sorted listings, as a million lookups in the store would take hours.
  for await (const { id, isThere } of compareListings(removedIds(ledger), objects.list())) {
    if (!isThere && !held.has(id)) continue
    await onFound(id)
    if ((await removeAnywhere(objects, id)) !== null) removed.push(id)
  }
  return removed
}

/**
 * Records deletions made while the ledger was unavailable, which only the store knows of, by their retired IDs. `copy`: an
 * older copy of the store; only images that it still has matter.
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

  for await (const { id, isThere } of compareListings(copy.list(), objects.list())) {
    if (!isThere) await record(id)
  }
  for await (const id of copy.listHeld()) await record(id)
}

/** Whether the image is held by the operator, or hidden until it is scanned. */
export async function shouldBeHeld(id: string, ledger: Pick<Ledger, 'absenceReason'>): Promise<boolean> {
  const state = (await ledger.absenceReason(id))?.state
  return state === 'held' || state === 'scanning'
}

/** Makes the store hold exactly the images that the ledger says are held. Returns the IDs of images too damaged to release. */
export async function syncHolds(ledger: Pick<Ledger, 'heldIds'>, objects: ObjectStore): Promise<string[]> {
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

/** Applies tombstones that the ledger lacks, to it and to the store next to it. Held images stay held. */
export async function restoreFromTombstones(
  tombstones: readonly Tombstone[],
  ledger: Ledger,
  objects: ObjectStore,
): Promise<void> {
  await ledger.applyTombstones(latestPerSubject(tombstones))
  await applyLedgerToStore(ledger, objects)
}

/** Removes and holds images in the store as the ledger says. Idempotent. Returns the number of changed images. */
export async function applyLedgerToStore(
  ledger: Pick<Ledger, 'removedIds' | 'heldIds'>,
  objects: ObjectStore,
): Promise<{ removed: number; held: number }> {
  const removed = await removeGone(ledger, objects)
  let held = 0
  for (const id of await ledger.heldIds(Number.MAX_SAFE_INTEGER)) if (await objects.hold(id)) held++
  return { removed: removed.length, held }
}
