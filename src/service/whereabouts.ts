/** Where an image is, visible or not, and what is known of it. The image itself is not read. */
import type { Ledger } from '../stores/ledger.ts'
import { DamagedObject, type ImageRecord, type ObjectStore } from '../stores/object-store.ts'

/** `withheld`: its uploader deleted it while it was held, and the operator has not decided about its bytes. */
export type Place = 'visible' | 'held' | 'damaged' | 'removed' | 'deleted' | 'withheld' | 'absent'

export interface Whereabouts {
  place: Place
  /** Without what proves who uploaded it. `null` if there is none, or it can't be read. */
  record: Omit<ImageRecord, 'keySha256'> | null
}

export async function findImage(
  { objects, ledger }: { objects: ObjectStore; ledger: Pick<Ledger, 'whyAbsent' | 'holdOf'> },
  id: string,
): Promise<Whereabouts> {
  try {
    const visible = await objects.head(id)
    const found = visible ?? (await objects.headHeld(id))
    if (found === null) {
      return { place: await placeOfAbsent(ledger, id), record: null }
    }
    const { keySha256: _, ...record } = found
    return { place: visible === null ? 'held' : 'visible', record }
  } catch (error) {
    if (error instanceof DamagedObject) return { place: 'damaged', record: null }
    throw error
  }
}

/** Whether an image is here, visible or held, or was removed by the operator. What its key deleted is as if it never was. */
export function isOnRecord({ place }: Whereabouts): boolean {
  return place === 'visible' || place === 'held' || place === 'damaged' || place === 'removed'
}

async function placeOfAbsent(ledger: Pick<Ledger, 'whyAbsent' | 'holdOf'>, id: string): Promise<Place> {
  const [why, hold] = await Promise.all([ledger.whyAbsent(id), ledger.holdOf(id)])
  if (why?.place === 'removed') return 'removed'
  if (hold?.isGone) return 'withheld'
  // One that is moved meanwhile may be missed in both places.
  return why?.place ?? 'absent'
}
