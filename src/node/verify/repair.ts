/** Quarantines what `verify` found, or removes what should be gone. Never discards anything that could be an image. */
import { mkdir, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Purges } from '../../service/images/purges.ts'
import { treatDamagedAsPresent } from '../../service/images/status.ts'
import type { Takedown } from '../../service/moderation/takedown.ts'
import { copyImage, healImage, type Source } from '../../service/recovery/transfer.ts'
import { unlessAbsent } from '../../stores/disk/faults.ts'
import type { Ledger } from '../../stores/ledger.ts'
import { DamagedObject, type ObjectStore, openAnywhere, removeAnywhere } from '../../stores/object-store.ts'
import type { Finding } from './check.ts'

/** The image is held, and damaged in or missing from the backup too. */
export const NO_COPY = 'held: the backup has no intact copy'

export interface Repair {
  objects: ObjectStore
  ledger: Ledger
  purges: Purges
  takedown: Takedown
  /** The image folder. `null` if images are in S3. */
  folder: string | null
  /** Source of intact copies of damaged images. */
  backup: ObjectStore | null
}

/** Returns a short description of the action taken. */
export async function repair(finding: Finding, parts: Repair): Promise<string> {
  const { objects, takedown, folder, backup } = parts
  switch (finding.kind) {
    case 'damaged': {
      if (backup !== null) {
        const healed = await heal(finding.id, backup, parts, finding.isHeld ?? false)
        if (healed !== null) return healed
      }
      if (finding.isHeld) return backup === null ? 'held already' : NO_COPY
      if (await takedown.hold(finding.id, 'damaged: found by verify')) {
        return backup === null ? 'held' : NO_COPY
      }
      // By its record, the file belongs to another image: the store has no image with this name.
      return folder === null ? 'left' : quarantine(folder, join('objects', finding.id))
    }
    case 'expired':
      // The ledger knows the expiry by now, and servers have the better clock.
      return 'left for the servers to remove'
    case 'removed':
      return removeGone(finding.id, parts)
    case 'visible':
      // A server may be holding or releasing it concurrently: only one process at a time moves an image.
      await takedown.repairPlacement(finding.id)
      return (await objects.headHeld(finding.id).catch(treatDamagedAsPresent)) === null ? 'released' : 'held'
    case 'draft':
      await rm(join(folder!, finding.path), { force: true })
      return 'removed'
    case 'stray':
      return quarantine(folder!, finding.path)
  }
}

/** Restores a damaged image from its intact copy in a backup, while servers keep running. `null`: the backup has none. */
async function heal(
  id: string,
  backup: ObjectStore,
  parts: Repair,
  isHeld: boolean,
): Promise<'healed' | 'healed, still held' | 'removed' | null> {
  const { objects, ledger, takedown, folder } = parts
  const source: Source = { open: (id, selection) => openAnywhere(backup, id, selection) }
  try {
    const isForeign = !(await healImage(id, source, objects)) && (await objects.head(id)) === null
    // By its record, the file of this name belongs to another image.
    const isMoved =
      isForeign &&
      !isHeld &&
      folder !== null &&
      (await quarantine(folder, join('objects', id)).catch(unlessAbsent(null)))
    if (isMoved && (await copyImage(id, source, objects)) === null) return null
  } catch (error) {
    if (error instanceof DamagedObject) return null
    throw error
  }
  // Deleted, removed or held meanwhile: the ledger records each before the image itself is changed.
  if (await ledger.isGone(id)) return removeGone(id, parts)
  await takedown.repairPlacement(id)
  return (await objects.headHeld(id)) === null ? 'healed' : 'healed, still held'
}

/** With purges before and after, as a cache may have fetched the image since it was removed the first time. */
async function removeGone(id: string, { objects, purges }: Repair): Promise<'removed'> {
  await purges.enqueue(id)
  await removeAnywhere(objects, id)
  await purges.enqueue(id)
  purges.flush()
  return 'removed'
}

async function quarantine(folder: string, path: string): Promise<string> {
  await mkdir(join(folder, 'strays'), { recursive: true })
  await rename(join(folder, path), join(folder, 'strays', `${Date.now()}-${basename(path)}`))
  return 'moved to strays'
}
