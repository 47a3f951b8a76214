/**
 * Commits drafts durably: write and fsync a temporary file, rename it, fsync the folder. All images share one folder so that
 * a single folder fsync covers every pending commit. Node only.
 */
import { closeSync, constants, fstatSync, fsync, open, write } from 'node:fs'
import { link, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { CHUNK_BYTES, isWhole, lengthOf, type Segment } from '../../formats/image.ts'
import { ignoring, isCode } from '../disk/faults.ts'
import { acquireSized, type BlockPool, createBlockPool, type Memory } from '../drafts/blocks.ts'
import type { NewImage } from '../drafts/draft.ts'
import type { Spool, Spooled } from '../drafts/spool.ts'
import { IdTaken, type ImageRecord, storedSize } from '../object-store.ts'
import { blockDigestsOf, createBlockDigester } from './block-digests.ts'
import { isThere } from './faults.ts'
import type { FolderFlush } from './folder-flush.ts'
import { type HotSet, identityOf } from './hot-set.ts'
import type { Folders } from './layout.ts'
import type { ImageReader } from './reader.ts'
import { draftSuffix } from './removal.ts'
import { encodeTrailer, maxTrailerBytes } from './trailer.ts'

// Raw descriptors: a `FileHandle` costs more, and a flushed file can be closed on the main thread.
const openFile = promisify(open)
const writeBytes = promisify(write)
const flushFile = promisify(fsync)

const { O_WRONLY, O_CREAT, O_EXCL, O_DSYNC } = constants
const NEW_FILE = O_WRONLY | O_CREAT | O_EXCL

/**
 * Whether a write to a file opened with `O_DSYNC` is durable when it returns (open(2)). This saves a separate fsync, whose
 * thread-pool round trip costs a tenth of an upload's CPU time. macOS leaves the bytes in the drive's cache.
 */
const IS_FLUSHED_BY_WRITE = process.platform === 'linux'

/** Error codes of file systems without hard links (link(2)). */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']

export function createCommitter(parts: {
  folders: Folders
  spool: Spool
  flushes: FolderFlush
  reader: ImageReader
  hotSet: HotSet
}) {
  const { folders, spool, flushes, reader, hotSet } = parts
  const { objects, held, retired } = folders
  /** Commits in flight, by ID. These promises never reject. */
  const inFlight = new Map<string, Promise<void>>()
  const blocks = createBlockPool()

  async function commit(image: NewImage<Spooled>, isContended: boolean): Promise<void> {
    const { id } = image.record
    const target = join(objects, id)
    const path = spool.path() + (isContended ? draftSuffix(id) : '')
    let written: Written
    // Runs concurrently with the write: a sequential thread-pool round trip would add 40 µs to an upload.
    const isTaken = isContended ? false : isThere(target)
    try {
      written = await writeImage(path, image, blocks)
      if (isContended) await linkExclusive(path, target)
      else {
        if (await isTaken) throw new IdTaken()
        await rename(path, target)
      }
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
    const { whole, identity } = written
    if (whole === null) return
    // Cached so that the first view needs no disk read.
    const { memory, release } = whole
    const reservation = hotSet.reserve(memory.length)
    if (reservation === null) return release()
    const body = memory.subarray(0, image.record.size)
    reservation.add({ record: image.record, body }, target, identity, release).release?.()
  }

  /**
   * Moves a draft to `target`, which another process may be creating or retiring concurrently. Uses link(2) because a rename
   * would replace an existing file. The name of `path` ends with `draftSuffix`, so that a retirement finds it. Throws
   * `IdTaken` if the ID is in use, held or retired, or if a retirement removed `path`.
   */
  async function linkExclusive(path: string, target: string): Promise<void> {
    const id = target.slice(objects.length + 1)
    const isRetiredOrHeld = await Promise.all([retired, held].map((folder) => isThere(join(folder, id))))
    if (isRetiredOrHeld.includes(true)) throw new IdTaken()
    try {
      await link(path, target)
    } catch (error) {
      if (isCode(error, 'EEXIST')) throw new IdTaken()
      if (!isCode(error, ...NO_LINKS)) retiredFault(error)
      if (await isThere(target)) throw new IdTaken()
      await rename(path, target).catch(retiredFault)
      return
    }
    // If this fails, the next start removes the leftover.
    await rm(path, { force: true }).catch(() => {})
    // A hold may have moved an earlier image away since the first check and so freed the name.
    if (!(await isThere(join(held, id)))) return
    await rm(target, { force: true })
    throw new IdTaken()
  }

  return {
    /** `Draft.commit`, but throws raw file-system errors. */
    async commit(image: NewImage<Spooled>, isContended: boolean): Promise<void> {
      const { id } = image.record
      // A rename replaces an existing file, so the name must be free and no other commit of this process may be about to
      // use it. Two processes that draw the same random 65-bit ID and commit concurrently are not guarded against; derived
      // IDs, which can collide, are (`isContended`).
      if (inFlight.has(id)) throw new IdTaken()
      const done = commit(image, isContended).finally(() => inFlight.delete(id))
      inFlight.set(
        id,
        done.catch(() => {}),
      )
      await done
    },

    /** `Draft.replace`, but throws raw file-system errors. */
    async replace(image: NewImage<Spooled>): Promise<'visible' | 'held' | null> {
      const { id } = image.record
      const isVisible = (await reader.identify(join(objects, id), id)) !== null
      if (!isVisible && (await reader.identify(join(held, id), id)) === null) return null
      const path = spool.path() + draftSuffix(id)
      try {
        const { whole } = await writeImage(path, image, blocks)
        whole?.release()
        if (await isThere(join(retired, id))) throw new IdTaken()
        await rename(path, join(isVisible ? objects : held, id)).catch(retiredFault)
      } catch (error) {
        await rm(path, { force: true })
        if (error instanceof IdTaken) return null
        throw error
      }
      hotSet.evict(id)
      const isHeld = !isVisible || (await isThere(join(held, id)))
      // A hold happened after the first check. A release at this point leaves two copies; the repair's last step removes one.
      if (isVisible && isHeld) await rename(join(objects, id), join(held, id)).catch(ignoring('ENOENT'))
      await Promise.all([flushes.flush(objects), isHeld && flushes.flush(held)])
      return isHeld ? 'held' : 'visible'
    },

    /** Resolves once no commit of this process is in flight for `id`. */
    settled: async (id: string) => inFlight.get(id),
  }
}

/** A missing draft was removed by a retirement of its ID. */
function retiredFault(error: unknown): never {
  throw isCode(error, 'ENOENT') ? new IdTaken() : error
}

interface Written {
  /** A small image in memory, starting at offset 0. The caller releases it; after an error it is left to the garbage collector. */
  whole: Memory | null
  /** See `identityOf`. */
  identity: string
}

/** Writes and flushes bytes, digests and record to `path`. If the draft's file already is the image, it is moved instead. */
async function writeImage(
  path: string,
  { draft, record, segments }: NewImage<Spooled>,
  blocks: BlockPool,
): Promise<Written> {
  const { file } = draft
  if (file !== null && isWhole(segments, draft.size)) {
    await rename(file.path, path)
    await file.handle.appendFile(encodeTrailer({ record, digests: Buffer.from(file.digests()) }))
    await file.handle.sync()
    return { whole: null, identity: identityOf(fstatSync(file.handle.fd)) }
  }
  const whole = storedSize(record) <= CHUNK_BYTES ? await wholeImage(draft, segments, blocks) : null
  const isFlushed = whole !== null && IS_FLUSHED_BY_WRITE
  const descriptor = await openFile(path, isFlushed ? NEW_FILE | O_DSYNC : NEW_FILE, 0o600)
  try {
    const file = whole === null ? fileOf(draft.bytes(segments), record) : [withTrailer(whole.memory, record)]
    for await (const chunk of file) await writeFully(descriptor, chunk)
    if (!isFlushed) await flushFile(descriptor)
    return { whole, identity: identityOf(fstatSync(descriptor)) }
  } finally {
    closeSync(descriptor)
  }
}

/** Memory that starts with a small image and has room for its trailer: the draft's own if that already is the image. */
async function wholeImage(draft: Spooled, segments: Segment[], blocks: BlockPool): Promise<Memory> {
  const size = lengthOf(segments)
  const bytes = size + maxTrailerBytes(size)
  const own = isWhole(segments, draft.size) ? draft.detach(bytes) : null
  if (own !== null) return own
  const copy = acquireSized(blocks, bytes)
  let filled = 0
  for await (const chunk of draft.bytes(segments)) {
    copy.memory.set(chunk, filled)
    filled += chunk.length
  }
  return copy
}

/** The complete file of the image that `memory` starts with, so that a single write suffices. */
function withTrailer(memory: Buffer<ArrayBuffer>, record: ImageRecord): Buffer {
  const size = storedSize(record)
  const trailer = encodeTrailer({ record, digests: blockDigestsOf(memory.subarray(0, size)) })
  memory.set(trailer, size)
  return memory.subarray(0, size + trailer.length)
}

async function* fileOf(chunks: AsyncIterable<Uint8Array>, record: ImageRecord): AsyncGenerator<Uint8Array> {
  const digester = createBlockDigester()
  for await (const chunk of chunks) {
    digester.update(chunk)
    yield chunk
  }
  yield encodeTrailer({ record, digests: digester.digests() })
}

async function writeFully(descriptor: number, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await writeBytes(descriptor, bytes, at, bytes.length - at)
    at += bytesWritten
  }
}
