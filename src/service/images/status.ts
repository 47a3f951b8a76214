/** The state of an image, from its record and the ledger. Never reads the image bytes. */
import type { Ledger } from '../../stores/ledger.ts'
import { DamagedObject, findAnywhere, type ImageRecord, type ObjectStore } from '../../stores/object-store.ts'

/** `withheld`: deleted by its uploader while it was held; the operator has yet to decide about its bytes. */
export type ImageState = 'visible' | 'held' | 'damaged' | 'removed' | 'deleted' | 'withheld' | 'absent'

/** The record of an image, visible or held. */
export async function recordAnywhere(
  objects: Pick<ObjectStore, 'head' | 'headHeld'>,
  id: string,
): Promise<ImageRecord | null> {
  return (await findAnywhere(objects, id))?.record ?? null
}

/** Error handler: a damaged image has no readable record, but does exist. */
export function treatDamagedAsPresent(error: unknown): 'damaged' {
  if (error instanceof DamagedObject) return 'damaged'
  throw error
}

/** Checks the ledger and the store, as a hold may not be carried out yet, or its image may be gone. */
export async function isHeld(
  { objects, ledger }: { objects: Pick<ObjectStore, 'headHeld'>; ledger: Pick<Ledger, 'holdOf'> },
  id: string,
): Promise<boolean> {
  return (
    (await ledger.holdOf(id)) !== null || (await objects.headHeld(id).catch(treatDamagedAsPresent)) !== null
  )
}

export interface ImageStatus {
  state: ImageState
  /** Without the hash of the deletion key. `null` if absent or unreadable. */
  record: Omit<ImageRecord, 'keySha256'> | null
}

/** Looks for a visible or held image, then asks the ledger why it is neither. */
export async function findImage(
  { objects, ledger }: { objects: ObjectStore; ledger: Pick<Ledger, 'absenceReason' | 'holdOf'> },
  id: string,
): Promise<ImageStatus> {
  try {
    const found = await findAnywhere(objects, id)
    if (found === null) return { state: await stateOfAbsent(ledger, id), record: null }
    const { keySha256: _, ...record } = found.record
    return { state: found.state, record }
  } catch (error) {
    if (error instanceof DamagedObject) return { state: 'damaged', record: null }
    throw error
  }
}

/** Whether an image exists or was removed by the operator. One deleted by its uploader counts as if it had never existed. */
export function isOnRecord({ state }: ImageStatus): boolean {
  return state === 'visible' || state === 'held' || state === 'damaged' || state === 'removed'
}

async function stateOfAbsent(
  ledger: Pick<Ledger, 'absenceReason' | 'holdOf'>,
  id: string,
): Promise<ImageState> {
  const [why, hold] = await Promise.all([ledger.absenceReason(id), ledger.holdOf(id)])
  if (why?.state === 'removed') return 'removed'
  // Without `isGone`, the process that deleted it died before it could record that.
  if (hold?.isGone || (hold !== null && why?.state === 'deleted')) return 'withheld'
  // An image awaiting its scan would have been found, so it was never stored.
  if (why?.state === 'scanning') return 'absent'
  // An image moved during the lookup can be missed in both places.
  return why?.state ?? 'absent'
}
