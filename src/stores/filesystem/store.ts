/** Images in a folder: one file an image, its bytes, their digests and its record (`layout.ts`). Node only. */
import { access, constants, open, rename, rm, statfs } from 'node:fs/promises'
import { performance } from 'node:perf_hooks'
import { ID_PATTERN } from '../../protocol.ts'
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

/** With less room than this no upload is taken: removals and the ledger beside the images must go on. */
const MIN_FREE_BYTES = 8 * 1024 * 1024

/** How long a reading of the free space is cached. */
const FREE_CHECK_MS = 250

/** What a probe writes. Unit: bytes. */
const PROBE_BYTES = 4096

export interface FilesystemStore extends ObjectStore {
  /** Identity of the folder: two never have the same, a copy of one has. */
  readonly identity: string
  /**
   * The image if it is in memory and its file is still there: a synchronous check, so that a removal by any process is seen
   * at once. `null` says nothing about the image. Call `release` as for `open`.
   */
  hot(id: string): ImageInMemory | null
}

export interface FilesystemStoreOptions {
  folder: string
  /** Memory for images, 0 for none. */
  hotSetBytes: number
}

/** Makes the folders if they are missing. Throws `StoreUnavailable`, and an `Error` if a newer version wrote them. */
export async function openFilesystemStore({
  folder,
  hotSetBytes,
}: FilesystemStoreOptions): Promise<FilesystemStore> {
  const folders = await makeFolders(folder).catch(storeFault)
  const { objects, incoming } = folders
  const layout = await openLayout(folder)
  const flushes = createFolderFlush()
  // What was moved by a process that died before its flush.
  await flushes.flush(objects).catch(storeFault)
  const hotSet = createHotSet(hotSetBytes)
  const forget = hotSet.evict
  const reader = createImageReader(hotSet)
  const spool = createSpool(incoming, { digester: createBlockDigester, spare: maxTrailerBytes })
  const pathOf = (id: string) => `${objects}/${id}`
  const exists = async (id: string) => ID_PATTERN.test(id) && (await reader.identify(pathOf(id), id)) !== null
  const committer = createCommitter({ folders, spool, flushes, reader, hotSet })
  const remover = createRemover({ folders, flushes, exists, forget })
  await remover.sweep().catch(storeFault)
  let freeCheckedAt = 0
  let isFull = false

  async function assertRoom(): Promise<void> {
    const now = performance.now()
    if (now - freeCheckedAt > FREE_CHECK_MS || freeCheckedAt === 0) {
      freeCheckedAt = now
      const { bavail, bsize } = await statfs(incoming)
      isFull = bavail * bsize < MIN_FREE_BYTES
    }
    if (isFull) throw new StoreFull()
  }

  /** After the disk refused something, its free space is checked again before the next upload. */
  function writeFault(error: unknown): never {
    freeCheckedAt = 0
    storeFault(error)
  }

  async function draft(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<Draft> {
    await assertRoom().catch(storeFault)
    return draftOf(await spool.receive(body, limitBytes).catch(writeFault), {
      commit: (image, isContended) => committer.commit(image, isContended).catch(writeFault),
      replace: (image) => committer.replace(image).catch(writeFault),
    })
  }

  /** The record of an image that is there; else it is certain that it stays away. */
  async function head(id: string): Promise<ImageRecord | null> {
    const record = ID_PATTERN.test(id) ? await reader.head(pathOf(id), id) : null
    if (record === null) await remover.settle(id)
    return record
  }

  async function unlessRetired(id: string): Promise<'retired' | null> {
    return ID_PATTERN.test(id) && (await remover.isRetired(id)) ? 'retired' : null
  }

  /** Does all that a commit does, with a file that is not an image. */
  async function probe(): Promise<void> {
    // Named as a draft, so that what a killed process left goes with its drafts.
    const path = spool.path()
    try {
      await using handle = await open(path, 'wx', 0o600)
      await handle.writeFile(Buffer.alloc(PROBE_BYTES))
      await handle.sync()
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
      if ((await head(id)) === null) return unlessRetired(id)
      await committer.settled(id)
      // Its name may be another process's, and not on the disk yet.
      await flushes.flush(objects).catch(storeFault)
      return (await head(id)) ?? unlessRetired(id)
    },
    open: async (id, selection, signal) =>
      ID_PATTERN.test(id) ? reader.open(pathOf(id), id, selection, signal) : null,
    verify: async (id) => (ID_PATTERN.test(id) ? verifyImage(pathOf(id), id) : null),
    ...holdImages({ folders, flushes, retire: remover.retire, forget }),
    remove: remover.remove,
    list: (after = '') => idsAfter(objects, after),
    async check() {
      await assertRoom().catch(storeFault)
      await access(objects, constants.W_OK).catch(storeFault)
      await probe().catch(storeFault)
    },
    close: () => flushes.close(),
  }
}
