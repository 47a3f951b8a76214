/**
 * Removals, and ids that are never given again. Node only.
 *
 * A removal is on the disk before it is acknowledged. An image goes to a folder of its own first, and from there when the
 * flush of the other is done: until then every process on these folders knows that its removal is not certain.
 *
 * A retired id is an empty file, written before the image goes. A commit of a contended id (`commit.ts`) has a draft whose
 * name ends with the id. It looks for the retired id, and then links the draft to its place. A retirement writes the id
 * down, then takes such drafts away, and then the image. So a commit either finds the id retired, or its draft gone, or the
 * image still in its place: it never gets the name of an image that went meanwhile.
 */
import { open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ID_PATTERN } from '../../protocol.ts'
import { isCode, isFull } from '../disk/faults.ts'
import type { Removal } from '../object-store.ts'
import { isThere, storeFault } from './faults.ts'
import type { FolderFlush } from './folder-flush.ts'
import type { Folders } from './layout.ts'

export function createRemover(parts: {
  folders: Folders
  flushes: FolderFlush
  /** Whether an image is visible under the id. */
  exists: (id: string) => Promise<boolean>
  /** Takes it out of memory. */
  forget: (id: string) => void
}) {
  const { folders, flushes, exists, forget } = parts
  const { objects, removing, retired, incoming } = folders

  async function settle(id: string): Promise<void> {
    const path = join(removing, id)
    if (ID_PATTERN.test(id) && (await isThere(path))) await finish(path)
  }

  async function finish(path: string): Promise<void> {
    await flushes.flush(objects)
    await rm(path, { force: true })
  }

  async function retire(id: string, { retire: how }: Removal): Promise<void> {
    await writeDown(id).catch((error) => {
      if (how === 'surely' || !isFull(error)) throw error
    })
    for (const name of await readdir(incoming)) {
      if (name.endsWith(draftSuffix(id))) await rm(join(incoming, name), { force: true })
    }
  }

  async function writeDown(id: string): Promise<void> {
    await (await open(join(retired, id), 'a', 0o600)).close()
    await flushes.flush(retired)
  }

  /** `false` if somebody else was faster. */
  async function takeAway(id: string): Promise<boolean> {
    try {
      await rename(join(objects, id), join(removing, id))
    } catch (error) {
      // If it is the other folder that is missing, nothing is gone.
      if (isCode(error, 'ENOENT') && !(await isThere(join(objects, id)))) return false
      throw error
    }
    forget(id)
    return true
  }

  return {
    /**
     * Resolves when it is certain that an image which is not there stays away. Throws `StoreUnavailable` as long as the
     * flush of its removal fails: until then a power cut may bring it back, and nobody is told that it is gone.
     */
    settle: (id: string) => settle(id).catch(storeFault),
    /** `true` for the one, of many that ask at once, who took it away. */
    async remove(id: string, removal?: Removal): Promise<boolean> {
      const isHere = await exists(id)
      if (isHere && removal !== undefined) await retire(id, removal).catch(storeFault)
      const isMine = isHere && (await takeAway(id).catch(storeFault))
      // Another process that finishes an earlier removal of this id may take the file away: that says nothing about our rename.
      await (isMine ? finish(join(removing, id)) : settle(id)).catch(storeFault)
      return isMine
    },
    /** The same as `settle`, for all that processes left which died in the middle of it. */
    async sweep(): Promise<void> {
      for (const id of await readdir(removing)) await settle(id)
    },
    /** Retires an id that has an image. Throws `StoreFull`, `StoreUnavailable`. */
    retire: (id: string, removal: Removal) => retire(id, removal).catch(storeFault),
    isRetired: (id: string) => isThere(join(retired, id)),
  }
}

/** Ends the name of a draft that is about to take a contended id. */
export function draftSuffix(id: string): string {
  return `.${id}`
}
