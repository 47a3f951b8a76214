/** Puts aside what `verify` found, or removes what should be gone. Nothing that could be an image is thrown away. */
import { mkdir, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { damagedIsThere } from '../../service/images/status.ts'
import type { Takedown } from '../../service/moderation/takedown.ts'
import { copyImage, healImage, type Source } from '../../service/recovery/transfer.ts'
import type { Ledger } from '../../stores/ledger.ts'
import { DamagedObject, type ObjectStore, openAnywhere, removeAnywhere } from '../../stores/object-store.ts'
import type { Finding } from './scan.ts'

/** Held, and damaged in the backup too, or not in it. */
export const NO_COPY = 'held: the backup has no sound copy'

export interface Repair {
  objects: ObjectStore
  ledger: Ledger
  takedown: Takedown
  /** Where the images are, if they are in a folder. */
  folder: string | null
  /** Has sound copies of what is damaged. */
  backup: ObjectStore | null
}

/** What was done, in a word. */
export async function repair(finding: Finding, parts: Repair): Promise<string> {
  const { objects, takedown, folder, backup } = parts
  switch (finding.kind) {
    case 'damaged': {
      if (backup !== null) {
        const healed = await heal(finding.id, backup, parts, finding.isHeld ?? false)
        if (healed !== null) return healed
        if (finding.isHeld) return NO_COPY
      }
      if (await takedown.hold(finding.id, 'damaged: found by verify')) {
        return backup === null ? 'held' : NO_COPY
      }
      // Another image's file, by its record: the store knows none of this name.
      return folder === null ? 'left' : putAside(folder, join('objects', finding.id))
    }
    case 'expired':
      // The ledger has been told by now, and servers know the time better.
      return 'left to the servers, which remove it'
    case 'removed':
      await removeAnywhere(objects, finding.id)
      return 'removed'
    case 'visible':
      // A server may hold or release it just now: one process at a time moves an image.
      await takedown.putRight(finding.id)
      return (await objects.headHeld(finding.id).catch(damagedIsThere)) === null ? 'released' : 'held'
    case 'draft':
      await rm(join(folder!, finding.path), { force: true })
      return 'removed'
    case 'stray':
      return putAside(folder!, finding.path)
  }
}

/** Brings the sound copy of a damaged image from a backup, while servers go on. `null`: the backup has none. */
async function heal(
  id: string,
  backup: ObjectStore,
  { objects, ledger, takedown, folder }: Repair,
  isHeld: boolean,
): Promise<'healed' | 'healed, and held still' | 'removed' | null> {
  const source: Source = { open: (id, selection) => openAnywhere(backup, id, selection) }
  try {
    const isOthers = !(await healImage(id, source, objects)) && (await objects.head(id)) === null
    // The file of this name is another image's, by its record.
    if (isOthers && !isHeld && folder !== null && (await putAsideIfThere(folder, id))) {
      if ((await copyImage(id, source, objects)) === null) return null
    }
  } catch (error) {
    if (error instanceof DamagedObject) return null
    throw error
  }
  // Deleted, removed or held since it was looked at: each is in the ledger before it is done to the image.
  if (await ledger.isGone(id)) {
    await removeAnywhere(objects, id)
    return 'removed'
  }
  await takedown.putRight(id)
  return (await objects.headHeld(id)) === null ? 'healed' : 'healed, and held still'
}

async function putAside(folder: string, path: string): Promise<string> {
  await mkdir(join(folder, 'strays'), { recursive: true })
  await rename(join(folder, path), join(folder, 'strays', `${Date.now()}-${basename(path)}`))
  return 'put into strays'
}

function putAsideIfThere(folder: string, id: string): Promise<boolean> {
  return putAside(folder, join('objects', id)).then(
    () => true,
    (error) => {
      if (error.code === 'ENOENT') return false
      throw error
    },
  )
}
