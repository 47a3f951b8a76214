/** A store that is older or newer than the ledger, as a restored copy is, brought to what the ledger says. */
import type { Ledger } from '../stores/ledger.ts'
import type { ObjectStore } from '../stores/object-store.ts'

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
  const removed: string[] = []
  for await (const id of goneIds(ledger)) {
    const wasVisible = await objects.remove(id)
    if ((await objects.removeHeld(id)) || wasVisible) removed.push(id)
  }
  return removed
}

/** Holds what is held by the ledger, and nothing else. */
export async function holdAsDecided(ledger: Pick<Ledger, 'heldIds'>, objects: ObjectStore): Promise<void> {
  const held = new Set(await ledger.heldIds(Number.MAX_SAFE_INTEGER))
  for (const id of held) await objects.hold(id)
  for await (const id of objects.listHeld()) if (!held.has(id)) await objects.release(id)
}
