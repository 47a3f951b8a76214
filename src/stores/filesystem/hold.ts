/**
 * Holds and releases images by renaming them into another folder and back. A rename is atomic, so an image is always in
 * exactly one of the two. Node only.
 */
import { rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { ID_PATTERN } from '../../protocol.ts'
import { isCode } from '../disk/faults.ts'
import { type HeldImages, IdTaken, type Removal } from '../object-store.ts'
import { storeFault } from './faults.ts'
import type { FolderFlush } from './folder-flush.ts'
import type { Folders } from './layout.ts'
import { idsAfter } from './listing.ts'
import { createImageReader } from './reader.ts'

export function holdImages(parts: {
  folders: Folders
  flushes: FolderFlush
  retire: (id: string, removal: Removal) => Promise<void>
  /** Evicts the image from the hot set. */
  evict: (id: string) => void
}): HeldImages {
  const { folders, flushes, retire, evict } = parts
  const { objects, held } = folders
  // No hot set: a held image must never be in the memory that public responses are served from.
  const reader = createImageReader(null)

  async function imageIn(folder: string, id: string): Promise<string | null> {
    return ID_PATTERN.test(id) ? reader.identify(join(folder, id), id) : null
  }

  async function flushBoth(): Promise<void> {
    await Promise.all([flushes.flush(held), flushes.flush(objects)]).catch(storeFault)
  }

  /** `false` if another caller moved or removed the file first. */
  async function unlessGone(change: Promise<void>): Promise<boolean> {
    try {
      await change
      return true
    } catch (error) {
      return isCode(error, 'ENOENT') ? false : storeFault(error)
    }
  }

  return {
    async hold(id) {
      const isVisible = (await imageIn(objects, id)) !== null
      if (!isVisible && (await imageIn(held, id)) === null) return false
      const moved = isVisible && (await unlessGone(rename(join(objects, id), join(held, id))))
      evict(id)
      // Unconditionally: a process may have died between its rename and its flush.
      await flushBoth()
      return moved
    },

    async release(id) {
      const heldImage = await imageIn(held, id)
      const visible = await imageIn(objects, id)
      if (heldImage === null && visible === null) return false
      // Equal identities mean that the file was released between the two checks.
      if (heldImage !== null && visible !== null && heldImage !== visible) throw new IdTaken()
      const moved = heldImage !== null && (await unlessGone(rename(join(held, id), join(objects, id))))
      await flushBoth()
      return moved
    },

    headHeld: async (id) => (ID_PATTERN.test(id) ? reader.head(join(held, id), id) : null),

    openHeld: async (id, selection) =>
      ID_PATTERN.test(id) ? reader.open(join(held, id), id, selection) : null,

    async removeHeld(id, removal) {
      const isHeld = (await imageIn(held, id)) !== null
      if (isHeld && removal !== undefined) await retire(id, removal)
      const wasThere = isHeld && (await unlessGone(unlink(join(held, id))))
      await flushes.flush(held).catch(storeFault)
      return wasThere
    },

    listHeld: (after = '') => idsAfter(held, after),
  }
}
