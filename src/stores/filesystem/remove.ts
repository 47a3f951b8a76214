/**
 * Removals, each on the disk before it is acknowledged. An image goes to a folder of its own first, and from there when the
 * flush of the other is done: until then every process on these folders knows that its removal is not certain. Node only.
 */
import { readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ID_PATTERN } from '../../protocol.ts'
import { DamagedObject, type ImageRecord, type Removal } from '../object-store.ts'
import { isCode, isThere, storeFault } from './faults.ts'
import type { FolderFlush } from './folder-flush.ts'
import type { Retire } from './retire.ts'

export interface Remover {
  /** `true` for the one, of many that ask at once, who took it away. */
  remove(id: string, removal?: Removal): Promise<boolean>
  /**
   * Resolves when it is certain that an image which is not there stays away. Throws `StoreUnavailable` as long as the
   * flush of its removal fails: until then a power cut may bring it back, and nobody is told that it is gone.
   */
  settle(id: string): Promise<void>
  /** The same for all that processes left which died in the middle of it. */
  sweep(): Promise<void>
}

export function createRemover(parts: {
  objects: string
  removing: string
  flushes: FolderFlush
  retire: Retire
  head: (id: string) => Promise<ImageRecord | null>
  /** Takes it out of memory. */
  forget: (id: string) => void
}): Remover {
  const { objects, removing, flushes, retire, head, forget } = parts

  async function settle(id: string): Promise<void> {
    const path = join(removing, id)
    if (ID_PATTERN.test(id) && (await isThere(path))) await finish(path)
  }

  async function finish(path: string): Promise<void> {
    await flushes.flush(objects).catch(storeFault)
    await rm(path, { force: true }).catch(storeFault)
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

  /** `false` if somebody else was faster. */
  async function takeAway(id: string): Promise<boolean> {
    try {
      await rename(join(objects, id), join(removing, id))
    } catch (error) {
      // If it is the other folder that is missing, nothing is gone.
      if (isCode(error, 'ENOENT') && !(await isThere(join(objects, id)))) return false
      storeFault(error)
    }
    forget(id)
    return true
  }

  return {
    settle,
    async remove(id, removal) {
      // On a file system that ignores case another image may answer to this name.
      const isHere = await isImage(id)
      if (isHere && removal !== undefined) await retire(id, removal.retire).catch(storeFault)
      const isMine = isHere && (await takeAway(id))
      // Whoever finishes an earlier removal of this id may take the file away meanwhile: it says nothing about our rename.
      if (isMine) await finish(join(removing, id))
      else await settle(id)
      return isMine
    },
    async sweep() {
      for (const id of await readdir(removing)) await settle(id)
    },
  }
}
