/**
 * Removes images durably and retires IDs, which are then never reused. Node only.
 *
 * A removal is durable before it is acknowledged. The image is first moved to `removing/`, and deleted there once the flush
 * of `objects/` is done. Until then every process that shares these folders can see that the removal is not yet durable.
 *
 * A retired ID is an empty file, written before the image is removed. The commit of a contended ID (`commit.ts`) uses a
 * draft whose name ends with the ID: it checks whether the ID is retired, then links the draft to its final name. A
 * retirement records the ID, then removes such drafts, then the image. So a commit finds either the ID retired, or its draft
 * gone, or the image still in place. It can never reuse the name of an image that was removed meanwhile.
 */
import { open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ID_PATTERN } from '../../protocol.ts'
import { isCode, isFull } from '../disk/faults.ts'
import type { Removal } from '../object-store.ts'
import { isThere, storeFault } from './faults.ts'
import type { FolderFlush } from './folder-flush.ts'
import type { Folders } from './layout.ts'

const MAX_RENAMES = 10

export function createRemover(parts: {
  folders: Folders
  flushes: FolderFlush
  /** Whether a visible image has the ID. */
  exists: (id: string) => Promise<boolean>
  /** Evicts the image from the hot set. */
  evict: (id: string) => void
}) {
  const { folders, flushes, exists, evict } = parts
  const { objects, removing, retired, incoming } = folders

  async function completeRemoval(id: string): Promise<void> {
    const path = join(removing, id)
    if (ID_PATTERN.test(id) && (await isThere(path))) await flushAndDelete(path)
  }

  async function flushAndDelete(path: string): Promise<void> {
    await flushes.flush(objects)
    await rm(path, { force: true })
  }

  async function retire(id: string, { retire: mode }: Removal): Promise<void> {
    await recordRetired(id).catch((error) => {
      if (mode === 'surely' || !isFull(error)) throw error
    })
    for (const name of await readdir(incoming)) {
      if (name.endsWith(draftSuffix(id))) await rm(join(incoming, name), { force: true })
    }
  }

  async function recordRetired(id: string): Promise<void> {
    await (await open(join(retired, id), 'a', 0o600)).close()
    await flushes.flush(retired)
  }

  /** `false` if another caller was first. */
  async function moveToRemoving(id: string): Promise<boolean> {
    for (let attempt = 1; ; attempt++) {
      try {
        await rename(join(objects, id), join(removing, id))
        evict(id)
        return true
      } catch (error) {
        if (!isCode(error, 'ENOENT')) throw error
        if (!(await isThere(join(objects, id)))) return false
        // The image was held and released in between, unless `removing` itself is missing.
        if (attempt === MAX_RENAMES) throw error
      }
    }
  }

  return {
    /**
     * Resolves once the removal of an image that can't be found is durable. Throws `StoreUnavailable` while the flush of the
     * removal fails: until it succeeds, a power cut may bring the image back, so the image must not be reported as gone.
     */
    completeRemoval: (id: string) => completeRemoval(id).catch(storeFault),
    /** Of several concurrent calls, exactly one returns `true`: the one that removed the image. */
    async remove(id: string, removal?: Removal): Promise<boolean> {
      const isPresent = await exists(id)
      if (isPresent && removal !== undefined) await retire(id, removal).catch(storeFault)
      const isRemover = isPresent && (await moveToRemoving(id).catch(storeFault))
      // Flush even if the moved file is gone: another process completing an earlier removal of this ID may have deleted it,
      // which does not make our rename durable.
      await (isRemover ? flushAndDelete(join(removing, id)) : completeRemoval(id)).catch(storeFault)
      return isRemover
    },
    /** Completes the removals of processes that died in the middle of one. */
    async sweep(): Promise<void> {
      for (const id of await readdir(removing)) await completeRemoval(id)
    },
    /** Retires the ID of an existing image. Throws `StoreFull`, `StoreUnavailable`. */
    retire: (id: string, removal: Removal) => retire(id, removal).catch(storeFault),
    isRetired: (id: string) => isThere(join(retired, id)),
  }
}

/** Suffix of the name of a draft that is about to be committed under a contended ID. */
export function draftSuffix(id: string): string {
  return `.${id}`
}
