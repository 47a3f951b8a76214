/** Where an image is, visible or not, and what is known of it. The image itself is not read. */
import type { Ledger } from '../stores/ledger.ts'
import { DamagedObject, type ImageRecord, type ObjectStore } from '../stores/object-store.ts'

export type Place = 'visible' | 'held' | 'damaged' | 'removed' | 'absent'

export interface Whereabouts {
  place: Place
  /** Without what proves who uploaded it. `null` if there is none, or it can't be read. */
  record: Omit<ImageRecord, 'keySha256'> | null
}

export async function findImage(
  { objects, ledger }: { objects: ObjectStore; ledger: Pick<Ledger, 'whyAbsent'> },
  id: string,
): Promise<Whereabouts> {
  try {
    const visible = await objects.head(id)
    const found = visible ?? (await objects.headHeld(id))
    if (found === null) {
      const isRemoved = (await ledger.whyAbsent(id))?.place === 'removed'
      return { place: isRemoved ? 'removed' : 'absent', record: null }
    }
    const { keySha256: _, ...record } = found
    return { place: visible === null ? 'held' : 'visible', record }
  } catch (error) {
    if (error instanceof DamagedObject) return { place: 'damaged', record: null }
    throw error
  }
}

/** Whether an image is here, visible or held, or was removed by the operator. What its key deleted is as if it never was. */
export async function isOnRecord(
  parts: { objects: ObjectStore; ledger: Pick<Ledger, 'whyAbsent'> },
  id: string,
): Promise<boolean> {
  if ((await findImage(parts, id)).place !== 'absent') return true
  // One that is moved meanwhile may be missed in both places.
  return (await parts.ledger.whyAbsent(id)) !== null
}
