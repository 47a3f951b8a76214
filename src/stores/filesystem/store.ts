/** `ObjectStore` in a folder: one file per image, with its bytes, their digests and its record (`layout.ts`). Node only. */
import { access, constants, rename, rm, statfs } from 'node:fs/promises'
import { performance } from 'node:perf_hooks'
import { ID_PATTERN } from '../../protocol.ts'
import { writeFlushed } from '../disk/write-flushed.ts'
import { draftOf } from '../drafts/draft.ts'
import { createSpool } from '../drafts/spool.ts'
import { type Draft, type ImageRecord, type ObjectStore, StoreFull } from '../object-store.ts'
import { createBlockDigester } from './block-digests.ts'
import { createCommitter } from './commit.ts'
import { storeFault } from './faults.ts'
import { createFolderFlush } from './folder-flush.ts'
import { holdImages } from './hold.ts'
import { createHotSet, type ImageInMemory } from './hot-set.ts'
import { makeFolders, openLayout } from './layout.ts'
import { idsAfter } from './listing.ts'
import { createImageReader } from './reader.ts'
import { createRemover } from './removal.ts'
import { maxTrailerBytes } from './trailer.ts'
import { verifyImage } from './verify.ts'

/** Uploads are refused below this much free space, so that removals and the ledger on the same disk keep working. */
const MIN_FREE_BYTES = 8 * 1024 * 1024

/** How long the measured free space is cached. */
const FREE_CHECK_MS = 250

/** Size of a probe. Unit: bytes. */
const PROBE_BYTES = 4096

export interface FilesystemStore extends ObjectStore {
  /** Random identity of the folder. A copy of the folder shares it. */
  readonly identity: string
  /**
   * The image if it is cached in memory and its file still exists, which is checked synchronously so that a removal by any
   * process takes effect immediately. `null` says nothing about the image. Call `release` as for `open`.
   */
  hot(id: string): ImageInMemory | null
}

export interface FilesystemStoreOptions {
  folder: string
  /** Memory budget of the hot set. 0 disables it. */
  hotSetBytes: number
}

/** Creates missing folders. Throws `StoreUnavailable`, or an `Error` if a newer version wrote the folder. */
export async function openFilesystemStore({
  folder,
  hotSetBytes,
}: FilesystemStoreOptions): Promise<FilesystemStore> {
  const folders = await makeFolders(folder).catch(storeFault)
  const { objects, incoming } = folders
  const layout = await openLayout(folder)
  const flushes = createFolderFlush()
  // Makes the renames of a process that died before its flush durable.
  await flushes.flush(objects).catch(storeFault)
  const hotSet = createHotSet(hotSetBytes)
  const { evict } = hotSet
  const reader = createImageReader(hotSet)
  const spool = createSpool(incoming, { digester: createBlockDigester, spare: maxTrailerBytes })
  const pathOf = (id: string) => `${objects}/${id}`
  const exists = async (id: string) => ID_PATTERN.test(id) && (await reader.identify(pathOf(id), id)) !== null
  const committer = createCommitter({ folders, spool, flushes, reader, hotSet })
  const remover = createRemover({ folders, flushes, exists, evict })
  await remover.sweep().catch(storeFault)
  let freeCheckedAt = 0
  let isFull = false

  async function assertFreeSpace(): Promise<void> {
    const now = performance.now()
    if (now - freeCheckedAt > FREE_CHECK_MS || freeCheckedAt === 0) {
      freeCheckedAt = now
      const { bavail, bsize } = await statfs(incoming)
      isFull = bavail * bsize < MIN_FREE_BYTES
    }
    if (isFull) throw new StoreFull()
  }

  /** After a failed write, the free space is measured again before the next upload. */
  function writeFault(error: unknown): never {
    freeCheckedAt = 0
    storeFault(error)
  }

  async function draft(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<Draft> {
    await assertFreeSpace().catch(storeFault)
    return draftOf(await spool.receive(body, limitBytes).catch(writeFault), {
      commit: (image, isContended) => committer.commit(image, isContended).catch(writeFault),
      replace: (image) => committer.replace(image).catch(writeFault),
    })
  }

  /** Before it returns `null`, any removal of the image is durable. */
  async function head(id: string): Promise<ImageRecord | null> {
    const record = ID_PATTERN.test(id) ? await reader.head(pathOf(id), id) : null
    if (record === null) await remover.completeRemoval(id)
    return record
  }

  async function retirementOf(id: string): Promise<'retired' | null> {
    return ID_PATTERN.test(id) && (await remover.isRetired(id)) ? 'retired' : null
  }

  /** Performs every step of a commit with a file that is not an image. */
  async function probe(): Promise<void> {
    // Named like a draft, so that the leftover of a killed process is swept together with its drafts.
    const path = spool.path()
    try {
      await writeFlushed(path, Buffer.alloc(PROBE_BYTES))
      await rename(path, `${path}.probe`)
    } finally {
      await rm(path, { force: true })
      await rm(`${path}.probe`, { force: true })
    }
    await flushes.flush(objects)
  }

  return {
    identity: layout.folder,
    draft,
    hot: hotSet.acquire,
    head,
    async headDurable(id) {
      if ((await head(id)) === null) return retirementOf(id)
      await committer.settled(id)
      // Another process may have committed the image without having flushed its name yet.
      await flushes.flush(objects).catch(storeFault)
      return (await head(id)) ?? retirementOf(id)
    },
    open: async (id, selection) => (ID_PATTERN.test(id) ? reader.open(pathOf(id), id, selection) : null),
    verify: async (id) => (ID_PATTERN.test(id) ? verifyImage(pathOf(id), id) : null),
    ...holdImages({ folders, flushes, retire: remover.retire, evict }),
    remove: remover.remove,
    list: (after = '') => idsAfter(objects, after),
    async check() {
      await assertFreeSpace().catch(storeFault)
      await access(objects, constants.W_OK).catch(storeFault)
      await probe().catch(storeFault)
    },
    close: () => flushes.close(),
  }
}
