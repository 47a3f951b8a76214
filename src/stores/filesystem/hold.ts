/**
 * Images out of sight: a rename into another folder and back. A rename is atomic, so an image is in one of them at every
 * moment. Node only.
 */
import { rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { ID_PATTERN } from '../../protocol.ts'
import { DamagedObject, type HeldImages, IdTaken } from '../object-store.ts'
import { isCode, storeFault } from './faults.ts'
import type { FolderFlush } from './folder-flush.ts'
import { idsAfter } from './ids.ts'
import { createImageReader } from './read.ts'
import type { Retire } from './retire.ts'

export function holdImages(parts: {
  objects: string
  held: string
  flushes: FolderFlush
  retire: Retire
  /** Takes it out of memory. */
  forget: (id: string) => void
}): HeldImages {
  const { objects, held, flushes, retire, forget } = parts
  // Nothing held is ever in the memory that public answers come from.
  const reader = createImageReader(null)

  async function headIn(folder: string, id: string) {
    return ID_PATTERN.test(id) ? reader.head(join(folder, id), id) : null
  }

  /** A damaged image can be moved too. On a file system that ignores case another one may answer to this name. */
  async function isIn(folder: string, id: string): Promise<boolean> {
    try {
      return (await headIn(folder, id)) !== null
    } catch (error) {
      if (error instanceof DamagedObject) return true
      throw error
    }
  }

  /** Also what a process did that died before it could. */
  async function makeDurable(id: string): Promise<void> {
    forget(id)
    await flushBoth()
  }

  async function flushBoth(): Promise<void> {
    await Promise.all([flushes.flush(held), flushes.flush(objects)])
  }

  /** `false` if somebody else was faster. */
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
      const isVisible = await isIn(objects, id)
      if (!isVisible && !(await isIn(held, id))) return false
      const moved = isVisible && (await unlessGone(rename(join(objects, id), join(held, id))))
      await makeDurable(id).catch(storeFault)
      return moved
    },

    async release(id) {
      const [isHeld, isVisible] = [await isIn(held, id), await isIn(objects, id)]
      if (isHeld && isVisible) throw new IdTaken()
      if (!isHeld && !isVisible) return false
      const moved = isHeld && (await unlessGone(rename(join(held, id), join(objects, id))))
      await flushBoth().catch(storeFault)
      return moved
    },

    headHeld: (id) => headIn(held, id),

    openHeld: async (id) => (ID_PATTERN.test(id) ? reader.open(join(held, id), id) : null),

    async removeHeld(id, removal) {
      const isHeld = await isIn(held, id)
      if (isHeld && removal !== undefined) await retire(id, removal.retire).catch(storeFault)
      const wasThere = isHeld && (await unlessGone(unlink(join(held, id))))
      await flushes.flush(held).catch(storeFault)
      return wasThere
    },

    listHeld: () => idsAfter(held, ''),
  }
}
