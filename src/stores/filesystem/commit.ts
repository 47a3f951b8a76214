/**
 * From a draft to an image under its id, on the disk: flushed temporary file, rename, flush of the folder. All images are in
 * one folder, so that one flush serves all commits that wait for one. Node only.
 */
import { closeSync, constants, fstatSync, fsync, open, write } from 'node:fs'
import { link, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isWhole, lengthOf, PIECE_BYTES, type Segment } from '../../formats/image.ts'
import { isCode, unlessAbsent } from '../disk/faults.ts'
import { acquireSized, type Blocks, createBlocks, type Memory } from '../drafts/blocks.ts'
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

// By descriptor: a `FileHandle` costs more, and what was flushed is closed without another thread.
const openFile = promisify(open)
const writeBytes = promisify(write)
const flushFile = promisify(fsync)

const { O_WRONLY, O_CREAT, O_EXCL, O_DSYNC } = constants
const NEW_FILE = O_WRONLY | O_CREAT | O_EXCL

/**
 * Whether a write to a file opened with `O_DSYNC` is on the disk when it returns (open(2)). A flush after it would be one more
 * trip to the thread pool, a tenth of an upload's processor time. macOS leaves the bytes in the disk's own memory.
 */
const IS_FLUSHED_BY_WRITE = process.platform === 'linux'

/** What file systems without hard links say (link(2)). */
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
  /** By id. They do not reject. */
  const inFlight = new Map<string, Promise<void>>()
  const blocks = createBlocks()

  async function commit(image: NewImage<Spooled>, isContended: boolean): Promise<void> {
    const { id } = image.record
    const target = join(objects, id)
    const path = spool.path() + (isContended ? draftSuffix(id) : '')
    let written: Written
    // Beside the write: a round trip to the thread pool of its own would add 40 µs to an upload.
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
    // Its first view needs no disk.
    const { memory, release } = whole
    const room = hotSet.reserve(memory.length)
    if (room === null) return release()
    const body = memory.subarray(0, image.record.size)
    room.add({ record: image.record, body }, target, identity, release).release?.()
  }

  /**
   * Moves `path`, a draft whose name a retirement recognizes, to `target`, which another process may be about to take or to
   * retire: a link never replaces a file, as a rename does. Throws `IdTaken` if whoever has the name is on the disk, if the
   * id is held or retired, and if `path` was taken away because the id is being retired.
   */
  async function linkExclusive(path: string, target: string): Promise<void> {
    const id = target.slice(objects.length + 1)
    const areTaken = await Promise.all([retired, held].map((folder) => isThere(join(folder, id))))
    if (areTaken.includes(true)) throw new IdTaken()
    try {
      await link(path, target)
    } catch (error) {
      if (isCode(error, 'EEXIST')) {
        await flushes.flush(objects)
        throw new IdTaken()
      }
      if (!isCode(error, ...NO_LINKS)) takenAway(error)
      if (await isThere(target)) throw new IdTaken()
      await rename(path, target).catch(takenAway)
      return
    }
    // What is left of it is cleared away at the next start.
    await rm(path, { force: true }).catch(() => {})
    // A hold may have moved an earlier image away since the first check, which freed the name.
    if (!(await isThere(join(held, id)))) return
    await rm(target, { force: true })
    throw new IdTaken()
  }

  return {
    /** As `Draft.commit`. Throws what the file system says. */
    async commit(image: NewImage<Spooled>, isContended: boolean): Promise<void> {
      const { id } = image.record
      // A rename replaces: the name must be free, and nobody else of this process about to take it. Two processes that
      // draw the same id of 65 random bits, and write their images at the same moment, are not guarded against; those
      // that derive it are.
      if (inFlight.has(id)) throw new IdTaken()
      const done = commit(image, isContended).finally(() => inFlight.delete(id))
      inFlight.set(
        id,
        done.catch(() => {}),
      )
      await done
    },

    /** As `Draft.replace`. Throws what the file system says. */
    async replace(image: NewImage<Spooled>): Promise<'visible' | 'held' | null> {
      const { id } = image.record
      const isVisible = (await reader.identify(join(objects, id), id)) !== null
      if (!isVisible && (await reader.identify(join(held, id), id)) === null) return null
      const path = spool.path() + draftSuffix(id)
      try {
        const { whole } = await writeImage(path, image, blocks)
        whole?.release()
        if (await isThere(join(retired, id))) throw new IdTaken()
        await rename(path, join(isVisible ? objects : held, id)).catch(takenAway)
      } catch (error) {
        await rm(path, { force: true })
        if (error instanceof IdTaken) return null
        throw error
      }
      hotSet.evict(id)
      const isHeld = !isVisible || (await isThere(join(held, id)))
      // A hold came after the first check. A release that comes here leaves two copies, which the repair's last step removes.
      if (isVisible && isHeld) await rename(join(objects, id), join(held, id)).catch(unlessAbsent(undefined))
      await Promise.all([flushes.flush(objects), isHeld && flushes.flush(held)])
      return isHeld ? 'held' : 'visible'
    },

    /** Resolves when no commit of this process is about to give the id a file, or to take it away again. */
    settled: async (id: string) => inFlight.get(id),
  }
}

function takenAway(error: unknown): never {
  throw isCode(error, 'ENOENT') ? new IdTaken() : error
}

interface Written {
  /** Memory that begins with the image, if it is small. To be released; after an error it is garbage. */
  whole: Memory | null
  /** As of `identityOf`. */
  identity: string
}

/** Writes bytes, digests and record to `path`, and flushes them. A draft's file that is the image already moves there. */
async function writeImage(
  path: string,
  { draft, record, segments }: NewImage<Spooled>,
  blocks: Blocks,
): Promise<Written> {
  const { file } = draft
  if (file !== null && isWhole(segments, draft.size)) {
    await rename(file.path, path)
    await file.handle.appendFile(encodeTrailer({ record, digests: Buffer.from(file.digests()) }))
    await file.handle.sync()
    return { whole: null, identity: identityOf(fstatSync(file.handle.fd)) }
  }
  const whole = storedSize(record) <= PIECE_BYTES ? await wholeImage(draft, segments, blocks) : null
  const isFlushed = whole !== null && IS_FLUSHED_BY_WRITE
  const descriptor = await openFile(path, isFlushed ? NEW_FILE | O_DSYNC : NEW_FILE, 0o600)
  try {
    const file = whole === null ? fileOf(draft.bytes(segments), record) : [withTrailer(whole.memory, record)]
    for await (const piece of file) await writeFully(descriptor, piece)
    if (!isFlushed) await flushFile(descriptor)
    return { whole, identity: identityOf(fstatSync(descriptor)) }
  } finally {
    closeSync(descriptor)
  }
}

/** Memory that begins with a small image and has room for its trailer: the draft's own, where that is the image already. */
async function wholeImage(draft: Spooled, segments: Segment[], blocks: Blocks): Promise<Memory> {
  const size = lengthOf(segments)
  const bytes = size + maxTrailerBytes(size)
  const own = isWhole(segments, draft.size) ? draft.detach(bytes) : null
  if (own !== null) return own
  const copy = acquireSized(blocks, bytes)
  let filled = 0
  for await (const piece of draft.bytes(segments)) {
    copy.memory.set(piece, filled)
    filled += piece.length
  }
  return copy
}

/** The file of the image that `memory` begins with: one write. */
function withTrailer(memory: Buffer<ArrayBuffer>, record: ImageRecord): Buffer {
  const size = storedSize(record)
  const trailer = encodeTrailer({ record, digests: blockDigestsOf(memory.subarray(0, size)) })
  memory.set(trailer, size)
  return memory.subarray(0, size + trailer.length)
}

async function* fileOf(pieces: AsyncIterable<Uint8Array>, record: ImageRecord): AsyncGenerator<Uint8Array> {
  const digester = createBlockDigester()
  for await (const piece of pieces) {
    digester.update(piece)
    yield piece
  }
  yield encodeTrailer({ record, digests: digester.digests() })
}

async function writeFully(descriptor: number, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await writeBytes(descriptor, bytes, at, bytes.length - at)
    at += bytesWritten
  }
}
