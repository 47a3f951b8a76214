/**
 * Images in a folder: one file an image, its bytes, their digests and its record. Node only.
 *
 *     <folder>/objects/<id>
 *     <folder>/held/<id>                        out of sight: `hold.ts`
 *     <folder>/removing/<id>                    being removed: `remove.ts`
 *     <folder>/retired/<id>                     empty: never given again: `retire.ts`
 *     <folder>/incoming/<host>-<process>-<n>    drafts
 *
 * A commit is: temporary file, fsync, rename, fsync of the folder. A removal is: rename, fsync of the folder, unlink. All
 * images are in one folder, so that one flush serves all commits that wait for one: with many folders each upload would
 * pay for its own.
 */
import { existsSync, statSync } from 'node:fs'
import { access, constants, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { ID_PATTERN } from '../../protocol.ts'
import { createSpool } from '../drafts/spool.ts'
import { type Draft, type ImageRecord, type ObjectStore, StoreFull } from '../object-store.ts'
import { createBlockDigester } from './block-digests.ts'
import { createCommit } from './commit.ts'
import { createPageWriter } from './direct.ts'
import { isThere, storeFault } from './faults.ts'
import { identityOf } from './file.ts'
import { createFolderFlush } from './folder-flush.ts'
import { makeFolders } from './folders.ts'
import { createFreshImages } from './fresh.ts'
import { holdImages } from './hold.ts'
import { createHotSet, type HotImage, type ImageInMemory } from './hot-set.ts'
import { idsAfter } from './ids.ts'
import { openLayout } from './layout.ts'
import { writeProbe } from './probe.ts'
import { createImageReader } from './read.ts'
import { createRemover } from './remove.ts'
import { createReplace } from './replace.ts'
import { createRetire } from './retire.ts'
import { verifyImage } from './verify.ts'

/** With less room than this no upload is taken: removals and the ledger beside the images must go on. */
const MIN_FREE_BYTES = 8 * 1024 * 1024

/** How long an answer of the file system about its room is believed. */
const FREE_CHECK_MS = 250

/** Looking which file has a name costs twice as much as looking whether one has. */
const LOOK_AGAIN_MS = 1000

/** Of the memory for images, what the latest uploads may have. */
const FRESH_SHARE = 1 / 4

export interface FilesystemStore extends ObjectStore {
  /** Of the folder: two never have the same, a copy of one has. */
  readonly identity: string
  /**
   * The image if it is in memory and its file is still there (a synchronous look, so that a removal by any process is
   * seen at once). `null` says nothing about the image. Call `release` as for `open`.
   */
  hot(id: string): ImageInMemory | null
  /**
   * All of a small image that was read lately, if the kernel has its file in memory: nothing is waited for. Checked as by
   * `open`. `null` says nothing about the image. Call `release` as for `open`.
   */
  cached(id: string): ImageInMemory | null
}

export interface FilesystemStoreOptions {
  folder: string
  /** Memory for images, 0 for none. */
  hotSetBytes: number
  /** Told once of what works, but slower than it could. */
  warn?: (message: string, error: Error) => void
}

/** Whether its file has its name. */
function isInPlace({ path, file }: Pick<HotImage, 'path' | 'file'>): boolean {
  if (file === null) return existsSync(path)
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats !== undefined && identityOf(stats) === file
}

/** Makes the folders if they are missing. */
export async function openFilesystemStore(options: FilesystemStoreOptions): Promise<FilesystemStore> {
  const { folder, hotSetBytes, warn = () => {} } = options
  const objects = join(folder, 'objects')
  const incoming = join(folder, 'incoming')
  const held = join(folder, 'held')
  const removing = join(folder, 'removing')
  const retired = join(folder, 'retired')
  await makeFolders(folder, ['incoming', 'objects', 'held', 'removing', 'retired']).catch(storeFault)
  const layout = await openLayout(folder)
  const flushes = createFolderFlush()
  // What was moved by a process that died before its flush.
  await flushes.flush(objects).catch(storeFault)
  const freshBytes = Math.floor(hotSetBytes * FRESH_SHARE)
  const hotSet = createHotSet(hotSetBytes - freshBytes)
  const fresh = createFreshImages(hotSet, freshBytes)
  const reader = createImageReader(hotSet)
  const spool = createSpool(incoming, { digester: createBlockDigester })
  const writePages = createPageWriter((error) =>
    warn('the file system has no direct I/O (O_DIRECT): uploads cost more processor time', error),
  )
  const commits = createCommit({ objects, held, retired, spool, flushes, writePages, fresh })
  const pathOf = (id: string) => `${objects}/${id}`
  const retire = createRetire({ retired, incoming, flushes })
  const remover = createRemover({ objects, removing, flushes, retire, head: headNow, forget })
  const replace = createReplace({ objects, held, spool, flushes, reader, forget })
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
    const spooled = await spool.receive(body, limitBytes).catch(writeFault)
    let isSpent = false
    return {
      size: spooled.size,
      read: spooled.read,
      digest: spooled.digest,
      discard() {
        isSpent = true
        return spooled.discard()
      },
      async commit(record, segments, { isContended } = { isContended: false }) {
        if (isSpent) throw new Error('the draft is gone')
        isSpent = true
        await commits
          .commit(spooled, record, segments, isContended)
          .catch(writeFault)
          .finally(() => spooled.discard())
      },
      async replace(record, segments) {
        isSpent = true
        return replace(spooled, record, segments)
          .catch(writeFault)
          .finally(() => spooled.discard())
      },
    }
  }

  function forget(id: string): void {
    hotSet.evict(id)
    fresh.evict(id)
    reader.forget(id)
  }

  function hot(id: string): ImageInMemory | null {
    const image = hotSet.get(id)
    if (image === undefined) return firstView(id)
    if (isThereStill(image)) return hotSet.lend(image)
    forget(id)
    return null
  }

  function firstView(id: string): ImageInMemory | null {
    const image = fresh.get(id)
    if (image === undefined) return null
    if (!isInPlace(image)) {
      forget(id)
      return null
    }
    const lent = fresh.lend(image)
    if (lent !== null) return lent
    const hot = fresh.promote(id)
    return hot === undefined ? null : hotSet.lend(hot)
  }

  /** A name comes to another file only if its image was removed and the id not retired. */
  function isThereStill(image: HotImage): boolean {
    const { loopCount } = performance.nodeTiming.uvMetricsInfo
    // All requests of one turn of the event loop were sent before it began, and so before this look.
    if (image.lookedIn === loopCount) return true
    const isThere = looksThere(image)
    if (isThere) image.lookedIn = loopCount
    return isThere
  }

  function looksThere(image: HotImage): boolean {
    const now = performance.now()
    if (now - image.lookedAt < LOOK_AGAIN_MS) return existsSync(image.path)
    image.lookedAt = now
    return isInPlace(image)
  }

  /** The record of an image that is there; else it is certain that it stays away. */
  async function head(id: string): Promise<ImageRecord | null> {
    const record = await headNow(id)
    if (record === null) await remover.settle(id)
    return record
  }

  async function unlessRetired(id: string): Promise<'retired' | null> {
    return ID_PATTERN.test(id) && (await isThere(join(retired, id))) ? 'retired' : null
  }

  async function headNow(id: string): Promise<ImageRecord | null> {
    return ID_PATTERN.test(id) ? reader.head(pathOf(id), id) : null
  }

  return {
    identity: layout.folder,
    draft,
    hot,
    cached: (id) => reader.cached(pathOf(id), id),
    head,
    async headDurable(id) {
      if ((await head(id)) === null) return unlessRetired(id)
      await commits.settled(id)
      // Its name may be another process's, and not on the disk yet.
      await flushes.flush(objects).catch(storeFault)
      return (await head(id)) ?? unlessRetired(id)
    },
    open: (id, selection, signal) =>
      ID_PATTERN.test(id) ? reader.open(pathOf(id), id, selection, signal) : Promise.resolve(null),
    verify: async (id) => (ID_PATTERN.test(id) ? verifyImage(pathOf(id), id) : null),
    ...holdImages({ objects, held, flushes, retire, forget }),
    remove: remover.remove,
    list: (after = '') => idsAfter(objects, after),
    async check() {
      await assertRoom().catch(storeFault)
      await access(objects, constants.W_OK).catch(storeFault)
      await writeProbe(spool.path(), () => flushes.flush(objects)).catch(storeFault)
    },
    close: () => flushes.close(),
  }
}
