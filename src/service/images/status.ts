/** The state of an image, by its record and the ledger. Its bytes are not read. */
import type { Ledger } from '../../stores/ledger.ts'
import { DamagedObject, type ImageRecord, type ObjectStore } from '../../stores/object-store.ts'

/** `withheld`: its uploader deleted it while it was held, and the operator has not decided about its bytes. */
export type ImageState = 'visible' | 'held' | 'damaged' | 'removed' | 'deleted' | 'withheld' | 'absent'

/** Its record and where it is, visible or held, also if it is released meanwhile. `null` if it is in neither place. */
async function findAnywhere(
  { head, headHeld }: Pick<ObjectStore, 'head' | 'headHeld'>,
  id: string,
): Promise<{ record: ImageRecord; state: 'visible' | 'held' } | null> {
  let record = await head(id)
  if (record !== null) return { record, state: 'visible' }
  record = await headHeld(id)
  if (record !== null) return { record, state: 'held' }
  record = await head(id)
  return record && { record, state: 'visible' }
}

/** The record of an image, visible or held. */
export async function recordAnywhere(
  objects: Pick<ObjectStore, 'head' | 'headHeld'>,
  id: string,
): Promise<ImageRecord | null> {
  return (await findAnywhere(objects, id))?.record ?? null
}

/** An image that can't be read has no record, and is there all the same. */
export function damagedIsThere(error: unknown): 'damaged' {
  if (error instanceof DamagedObject) return 'damaged'
  throw error
}

/** By the ledger or the store: the hold may not be carried out yet, or its image may be gone. */
export async function isHeld(
  { objects, ledger }: { objects: Pick<ObjectStore, 'headHeld'>; ledger: Pick<Ledger, 'holdOf'> },
  id: string,
): Promise<boolean> {
  return (await ledger.holdOf(id)) !== null || (await objects.headHeld(id).catch(damagedIsThere)) !== null
}

export interface ImageStatus {
  state: ImageState
  /** Without what proves who uploaded it. `null` if there is none, or it can't be read. */
  record: Omit<ImageRecord, 'keySha256'> | null
}

/** Looks for an image where visible and held ones are, then asks the ledger why it is in neither place. */
export async function findImage(
  { objects, ledger }: { objects: ObjectStore; ledger: Pick<Ledger, 'whyAbsent' | 'holdOf'> },
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

/** Whether an image is here, visible or held, or was removed by the operator. What its key deleted is as if it never was. */
export function isOnRecord({ state }: ImageStatus): boolean {
  return state === 'visible' || state === 'held' || state === 'damaged' || state === 'removed'
}

async function stateOfAbsent(ledger: Pick<Ledger, 'whyAbsent' | 'holdOf'>, id: string): Promise<ImageState> {
  const [why, hold] = await Promise.all([ledger.whyAbsent(id), ledger.holdOf(id)])
  if (why?.state === 'removed') return 'removed'
  // Not marked as gone: the process that deleted it died.
  if (hold?.isGone || (hold !== null && why?.state === 'deleted')) return 'withheld'
  // One that waits for its scan is in one of the places, or was never stored.
  if (why?.state === 'scanning') return 'absent'
  // One that is moved meanwhile may be missed in both places.
  return why?.state ?? 'absent'
}
