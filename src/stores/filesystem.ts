/**
 * Images in a folder: one file an image, its bytes and then its record. Node only.
 *
 *     <folder>/objects/<first character of the id>/<id>
 *     <folder>/incoming/<process>-<number>      drafts
 *
 * A commit is: temporary file, fsync, link, fsync of the folder. A link never replaces a file, so two images can't
 * take one id. A removal is: unlink, fsync of the folder.
 */
import { accessSync } from 'node:fs'
import {
  access,
  constants,
  type FileHandle,
  link,
  mkdir,
  open,
  readdir,
  rm,
  statfs,
  unlink,
} from 'node:fs/promises'
import { join } from 'node:path'
import type { Segment } from '../formats/image.ts'
import { ID_PATTERN } from '../protocol.ts'
import { openImage, readRecord } from './filesystem-read.ts'
import { encodeTrailer } from './filesystem-trailer.ts'
import { createFolderFlush } from './folder-flush.ts'
import { createHotSet } from './hot-set.ts'
import {
  type ByteRange,
  type Draft,
  IdTaken,
  type ImageRecord,
  type ObjectStore,
  type StoredImage,
  StoreFull,
  StoreUnavailable,
} from './object-store.ts'
import { createSpool, type Spooled } from './spool.ts'

/** With less room than this no upload is taken: removals and the ledger beside the images must go on. */
const MIN_FREE_BYTES = 8 * 1024 * 1024

/** How long an answer of the file system about its room is believed. */
const FREE_CHECK_MS = 250

/** Images up to this size are not held to be sent: a connection may hold as much as a stream's chunk in any case. */
const UNPINNED_BYTES = 256 * 1024

const SHARDS = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz']

export interface FilesystemStore extends ObjectStore {
  /**
   * The image if it is in memory and its file is still there (one synchronous look, so that a removal by any process
   * is seen at once). `null` says nothing about the image. Call `release` as for `open`.
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
  await makeFolders(objects, incoming)
  const flushes = createFolderFlush()
  const hotSet = createHotSet(options.hotSetBytes)
  const spool = createSpool(incoming)
  const shardOf = (id: string) => join(objects, id[0])
  const pathOf = (id: string) => join(objects, id[0], id)
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

  async function draft(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<Draft> {
    await assertRoom().catch(storeFault)
    const spooled = await spool.receive(body, limitBytes).catch(storeFault)
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
          storeFault(error)
        } finally {
          await spooled.discard()
        }
      },
    }
  }

  async function commit(spooled: Spooled, record: ImageRecord, segments: Segment[]): Promise<void> {
    if (!ID_PATTERN.test(record.id)) throw new Error('not an id')
    const { path, handle } = await writeObject(spooled, record, segments)
    try {
      try {
        await handle.sync()
      } finally {
        await handle.close()
      }
      await link(path, pathOf(record.id))
    } catch (error) {
      await rm(path, { force: true })
      throw isCode(error, 'EEXIST') ? new IdTaken() : error
    }
    try {
      // The first name's removal needs no flush: if it is back after a crash, the sweep at the next start removes it.
      await Promise.all([flushes.flush(shardOf(record.id)), unlink(path)])
    } catch (error) {
      await rm(pathOf(record.id), { force: true })
      throw error
    }
  }

  /** A closed-to-others file with the image and its record, not yet flushed. */
  async function writeObject(spooled: Spooled, record: ImageRecord, segments: Segment[]) {
    const trailer = encodeTrailer(record)
    if (spooled.file !== null && record.size === spooled.size && record.sha256 === record.sentSha256) {
      await spooled.file.handle.appendFile(trailer)
      return spooled.file
    }
    const path = spool.path()
    const handle = await open(path, 'wx', 0o600)
    try {
      const pieces: Uint8Array[] = []
      for await (const piece of spooled.bytes(segments)) {
        if (spooled.file === null) pieces.push(piece)
        else await handle.appendFile(piece)
      }
      await handle.writev([...pieces, trailer])
      return { path, handle }
    } catch (error) {
      await handle.close().catch(() => {})
      await rm(path, { force: true })
      throw error
    }
  }

  function hot(id: string): (StoredImage & { body: Uint8Array }) | null {
    const image = hotSet.get(id)
    if (image === undefined) return null
    try {
      // A name never gets another file: that it is there is enough.
      accessSync(image.path)
    } catch {
      hotSet.evict(id)
      return null
    }
    const { stored } = image
    return stored.body.length <= UNPINNED_BYTES ? stored : { ...stored, release: hotSet.pin(image) }
  }

  async function withFile<T>(id: string, use: (handle: FileHandle) => Promise<T>): Promise<T | null> {
    if (!ID_PATTERN.test(id)) return null
    try {
      return await use(await open(pathOf(id), 'r'))
    } catch (error) {
      if (isCode(error, 'ENOENT')) return null
      return storeFault(error)
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
    draft,
    hot,
    head,
    async open(id: string, range?: ByteRange) {
      const image = range === undefined ? hot(id) : null
      return image ?? withFile(id, (handle) => openImage({ handle, id, path: pathOf(id), hotSet, range }))
    },
    async remove(id) {
      // On a file system that ignores case another image may answer to this name.
      if ((await head(id).catch(() => 'damaged')) === null) return false
      try {
        await unlink(pathOf(id))
        hotSet.evict(id)
        await flushes.flush(shardOf(id))
        return true
      } catch (error) {
        if (isCode(error, 'ENOENT')) return false
        return storeFault(error)
      }
    },
    async *list(after = '') {
      for (const shard of SHARDS) {
        if (shard < after.slice(0, 1)) continue
        const names = await readdir(join(objects, shard))
        // A file system that ignores case has one folder for two shards.
        const ids = names.filter((name) => name[0] === shard && ID_PATTERN.test(name) && name > after)
        yield* ids.sort(byCodeUnits)
      }
    },
    async check() {
      await assertRoom()
      await access(incoming, constants.W_OK)
      await access(objects, constants.W_OK)
    },
    close: flushes.close,
  }
}

async function makeFolders(objects: string, incoming: string): Promise<void> {
  await mkdir(incoming, { recursive: true })
  await mkdir(objects, { recursive: true })
  const present = new Set(await readdir(objects))
  const missing = SHARDS.filter((shard) => !present.has(shard))
  for (const shard of missing) await mkdir(join(objects, shard), { recursive: true })
  if (missing.length === 0) return
  const flushes = createFolderFlush()
  for (const folder of [objects, join(objects, '..'), join(objects, '..', '..')]) await flushes.flush(folder)
  await flushes.close()
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function isCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(error.code as string)
}

/** Tells a full disk and a disk that can't be used from everything else. */
function storeFault(error: unknown): never {
  if (isCode(error, 'ENOSPC', 'EDQUOT', 'EFBIG')) throw new StoreFull({ cause: error })
  if (isCode(error, 'EIO', 'EROFS', 'EACCES', 'EPERM', 'EMFILE', 'ENFILE', 'ENOENT', 'ENODEV', 'ESTALE')) {
    throw new StoreUnavailable({ cause: error })
  }
  throw error
}
