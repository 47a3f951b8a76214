/**
 * Images out of sight: a rename into another folder and back. A rename is atomic, so an image is in one of them at every
 * moment. Node only.
 */
import { type FileHandle, open, rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { ID_PATTERN } from '../../protocol.ts'
import { DamagedObject, type HeldImages, IdTaken } from '../object-store.ts'
import { isCode, storeFault } from './faults.ts'
import type { FolderFlush } from './folder-flush.ts'
import { createHotSet, type HotSet } from './hot-set.ts'
import { idsAfter } from './ids.ts'
import { openImage, readRecord } from './read.ts'
import type { Removals } from './removals.ts'

export function holdImages(parts: {
  objects: string
  held: string
  flushes: FolderFlush
  removals: Removals
  hotSet: HotSet
}): HeldImages {
  const { objects, held, flushes, removals, hotSet } = parts
  // Nothing held is ever in the memory that public answers come from.
  const noMemory = createHotSet(0)

  async function withFile<T>(
    folder: string,
    id: string,
    use: (handle: FileHandle) => Promise<T>,
  ): Promise<T | null> {
    if (!ID_PATTERN.test(id)) return null
    try {
      return await use(await open(join(folder, id), 'r'))
    } catch (error) {
      return isCode(error, 'ENOENT') ? null : storeFault(error)
    }
  }

  function headIn(folder: string, id: string) {
    return withFile(folder, id, async (handle) => {
      try {
        return await readRecord(handle, id)
      } finally {
        await handle.close()
      }
    })
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
    hotSet.evict(id)
    await removals.announce()
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

    openHeld: (id) =>
      withFile(held, id, (handle) =>
        openImage({
          handle,
          id,
          path: join(held, id),
          hotSet: noMemory,
          epoch: removals.epoch(),
          range: undefined,
        }),
      ),

    async removeHeld(id) {
      const wasThere = (await isIn(held, id)) && (await unlessGone(unlink(join(held, id))))
      await flushes.flush(held).catch(storeFault)
      return wasThere
    },

    listHeld: () => idsAfter(held, ''),
  }
}
