/** Brings the sound copy of a damaged image from a backup, while servers go on. */
import { isToBeHeld } from '../../service/recovery/reconcile.ts'
import { copyImage, healImage, type Source } from '../../service/recovery/transfer.ts'
import type { Ledger } from '../../stores/ledger.ts'
import { DamagedObject, type ObjectStore } from '../../stores/object-store.ts'

export type Healed = 'healed' | 'healed, and held still' | 'removed' | null

/**
 * `null`: the backup has no sound copy. `putAside`: takes away a file that is another image's by its record, `false` if there
 * is none.
 */
export async function heal(
  id: string,
  { backup, objects, ledger }: { backup: ObjectStore; objects: ObjectStore; ledger: Ledger },
  putAside: (() => Promise<boolean>) | null,
): Promise<Healed> {
  const source: Source = {
    open: async (id, selection) => (await backup.open(id, selection)) ?? backup.openHeld(id, selection),
  }
  try {
    const isOthers = !(await healImage(id, source, objects)) && (await objects.head(id)) === null
    if (isOthers && putAside !== null && (await putAside())) {
      if ((await copyImage(id, source, objects)) === null) return null
    }
  } catch (error) {
    if (error instanceof DamagedObject) return null
    throw error
  }
  // Deleted, removed or held since it was looked at: each is in the ledger before it is done to the image.
  if (await ledger.isGone(id)) {
    await objects.remove(id)
    await objects.removeHeld(id)
    return 'removed'
  }
  if (await isToBeHeld(id, ledger)) await objects.hold(id)
  return (await objects.headHeld(id)) === null ? 'healed' : 'healed, and held still'
}
