/**
 * Images in a folder: one file an image, its bytes and then its record. Node only.
 *
 *     <folder>/objects/<id>
 *     <folder>/held/<id>                        out of sight: `hold.ts`
 *     <folder>/incoming/<process>-<number>      drafts
 *     <folder>/removals                         changes with each removal
 *
 * A commit is: temporary file, fsync, rename, fsync of the folder. A removal is: unlink, word to all processes, fsync
 * of the folder. All images are in one folder, so that one flush serves all commits that wait for one: with many
 * folders each upload would pay for its own.
 */
import { existsSync } from 'node:fs'
import { access, constants, type FileHandle, mkdir, open, rename, rm, statfs, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Segment } from '../../formats/image.ts'
import { ID_PATTERN } from '../../protocol.ts'
import { createSpool, type Spooled } from '../drafts/spool.ts'
import {
  type ByteRange,
  type Draft,
  IdTaken,
  type ImageRecord,
  type ObjectStore,
  type StoredImage,
  StoreFull,
} from '../object-store.ts'
import { isCode, isThere, storeFault } from './faults.ts'
import { createFolderFlush } from './folder-flush.ts'
import { holdImages } from './hold.ts'
import { createHotSet } from './hot-set.ts'
import { idsAfter } from './ids.ts'
import { openLayout } from './layout.ts'
import { writeProbe } from './probe.ts'
import { openImage, readRecord } from './read.ts'
import { openRemovals } from './removals.ts'
import { encodeTrailer } from './trailer.ts'
import { completeFile, createObjectWriter } from './write.ts'

/** With less room than this no upload is taken: removals and the ledger beside the images must go on. */
const MIN_FREE_BYTES = 8 * 1024 * 1024

/** How long an answer of the file system about its room is believed. */
const FREE_CHECK_MS = 250

/** Images up to this size are not held to be sent: a connection may hold as much as a stream's chunk in any case. */
const UNPINNED_BYTES = 256 * 1024

export interface FilesystemStore extends ObjectStore {
  /** Of the folder: two never have the same, a copy of one has. */
  readonly identity: string
  /**
   * The image if it is in memory and its file is still there (one small synchronous read, so that a removal by any
   * process is seen at once). `null` says nothing about the image. Call `release` as for `open`.
   */
  hot(id: string): (StoredImage & { body: Uint8Array }) | null
}

/** Makes the folders if they are missing. `hotSetBytes`: memory for images, 0 for none. */
export async function openFilesystemStore(options: {
  folder: string
  hotSetBytes: number
}): Promise<FilesystemStore> {
  const objects = join(options.folder, 'objects')
  const incoming = join(options.folder, 'incoming')
  const held = join(options.folder, 'held')
  await makeFolders(incoming, objects, held)
  const layout = await openLayout(options.folder)
  const flushes = createFolderFlush()
  const hotSet = createHotSet(options.hotSetBytes)
  const writer = createObjectWriter()
  const removals = await openRemovals(join(options.folder, 'removals')).catch(storeFault)
  const spool = createSpool(incoming)
  const pathOf = (id: string) => join(objects, id)
  const committing = new Set<string>()
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

  /** What the disk just refused is looked at again before the next upload. */
  function writeFault(error: unknown): never {
    freeCheckedAt = 0
    storeFault(error)
  }

  async function draft(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<Draft> {
    await assertRoom().catch(storeFault)
    const spooled = await spool.receive(body, limitBytes).catch(writeFault)
    let spent = false
    return {
      size: spooled.size,
      read: spooled.read,
      digest: spooled.digest,
      discard() {
        spent = true
        return spooled.discard()
      },
      async commit(record, segments) {
        if (spent) throw new Error('the draft is gone')
        spent = true
        try {
          await commit(spooled, record, segments)
        } catch (error) {
          writeFault(error)
        } finally {
          await spooled.discard()
        }
      },
    }
  }

  async function commit(spooled: Spooled, record: ImageRecord, segments: Segment[]): Promise<void> {
    const { id } = record
    if (!ID_PATTERN.test(id)) throw new Error('not an id')
    // A rename replaces: the name must be free, and nobody else of this process about to take it. Two processes that
    // draw the same id of 65 random bits, and rename within the same microseconds, are not guarded against.
    if (committing.has(id)) throw new IdTaken()
    committing.add(id)
    try {
      await place(spooled, record, segments)
    } finally {
      committing.delete(id)
    }
  }

  async function place(spooled: Spooled, record: ImageRecord, segments: Segment[]): Promise<void> {
    const target = pathOf(record.id)
    const isKept = record.size === spooled.size && record.sha256 === record.sentSha256
    const draft = isKept ? spooled.file : null
    const path = draft?.path ?? spool.path()
    const trailerAfter = (bytes?: number) => encodeTrailer(record, bytes)
    try {
      if (draft === null) await writer.write(path, spooled, segments, trailerAfter)
      else await completeFile(draft.handle, trailerAfter())
      if (await isThere(target)) throw new IdTaken()
      await rename(path, target)
    } catch (error) {
      await rm(path, { force: true })
      throw error
    }
    try {
      await flushes.flush(objects)
    } catch (error) {
      await rm(target, { force: true })
      throw error
    }
  }

  function hot(id: string): (StoredImage & { body: Uint8Array }) | null {
    const image = hotSet.get(id)
    if (image === undefined) return null
    const epoch = removals.epoch()
    if (image.seen !== epoch) {
      // A name never gets another file: that it is there is enough.
      if (!existsSync(image.path)) {
        hotSet.evict(id)
        return null
      }
      image.seen = epoch
    }
    const { stored } = image
    return stored.body.length <= UNPINNED_BYTES ? stored : { ...stored, release: hotSet.pin(image) }
  }

  async function withFile<T>(id: string, use: (handle: FileHandle) => Promise<T>): Promise<T | null> {
    if (!ID_PATTERN.test(id)) return null
    try {
      return await use(await open(pathOf(id), 'r'))
    } catch (error) {
      if (!isCode(error, 'ENOENT')) return storeFault(error)
      hotSet.evict(id)
      return null
    }
  }

  function head(id: string): Promise<ImageRecord | null> {
    return withFile(id, async (handle) => {
      try {
        return await readRecord(handle, id)
      } finally {
        await handle.close()
      }
    })
  }

  return {
    identity: layout.folder,
    draft,
    hot,
    head,
    async open(id: string, range?: ByteRange) {
      const image = range === undefined ? hot(id) : null
      if (image !== null) return image
      const epoch = removals.epoch()
      return withFile(id, (handle) => openImage({ handle, id, path: pathOf(id), hotSet, epoch, range }))
    },
    ...holdImages({ objects, held, flushes, removals, hotSet }),
    async remove(id) {
      // On a file system that ignores case another image may answer to this name.
      if ((await head(id).catch(() => 'damaged')) === null) return false
      try {
        await unlink(pathOf(id))
        hotSet.evict(id)
        await removals.announce()
        await flushes.flush(objects)
        return true
      } catch (error) {
        if (isCode(error, 'ENOENT')) return false
        return storeFault(error)
      }
    },
    list: (after = '') => idsAfter(objects, after),
    async check() {
      await assertRoom().catch(storeFault)
      await access(objects, constants.W_OK).catch(storeFault)
      await writeProbe(spool.path(), () => flushes.flush(objects)).catch(storeFault)
    },
    async close() {
      await flushes.close()
      removals.close()
    },
  }
}

async function makeFolders(...folders: [string, ...string[]]): Promise<void> {
  for (const folder of folders) await mkdir(folder, { recursive: true })
  // Every time: the process that made them may have died before it flushed.
  const flushes = createFolderFlush()
  for (const up of ['..', '../..']) await flushes.flush(join(folders[0], up))
  await flushes.close()
}
