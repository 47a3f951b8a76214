/** Removals, each on the disk before it is acknowledged. Node only. */
import { unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { DamagedObject, type ImageRecord } from '../object-store.ts'
import { isCode, storeFault } from './faults.ts'
import type { FolderFlush } from './folder-flush.ts'

export interface Remover {
  remove(id: string): Promise<boolean>
  /**
   * Resolves when it is certain that an image which is not there stays away. Throws `StoreUnavailable` as long as the
   * flush of its removal fails: until then a power cut may bring it back, and nobody is told that it is gone. `true` if
   * that was still to be done.
   */
  settle(id: string): Promise<boolean>
}

export function createRemover(parts: {
  objects: string
  flushes: FolderFlush
  head: (id: string) => Promise<ImageRecord | null>
  /** Takes it out of memory. */
  forget: (id: string) => void
}): Remover {
  const { objects, flushes, head, forget } = parts
  /** Images that were unlinked, and the folder not flushed since. Whoever asks for one of them again waits for that. */
  const owed = new Set<string>()

  async function settle(id: string): Promise<boolean> {
    if (!owed.has(id)) return false
    await flushes.flush(objects).catch(storeFault)
    return owed.delete(id)
  }

  /** A damaged image can be removed too. */
  async function isImage(id: string): Promise<boolean> {
    try {
      return (await head(id)) !== null
    } catch (error) {
      if (error instanceof DamagedObject) return true
      throw error
    }
  }

  return {
    settle,
    async remove(id) {
      // On a file system that ignores case another image may answer to this name.
      if (!(await isImage(id))) return settle(id)
      try {
        await unlink(join(objects, id))
      } catch (error) {
        return isCode(error, 'ENOENT') ? settle(id) : storeFault(error)
      }
      forget(id)
      owed.add(id)
      await settle(id)
      return true
    },
  }
}
