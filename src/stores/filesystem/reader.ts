/**
 * Reads images from their files. Verifies each requested block against its digest before handing out any byte of it. A
 * stream repeats the same read in a loop. Node only.
 */
import { createHash } from 'node:crypto'
import { closeSync, fstatSync, open, openSync, read } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { CHUNK_BYTES, LARGE_CHUNK_BYTES } from '../../formats/image.ts'
import { isCode } from '../disk/faults.ts'
import { acquireSized, createBlockPool } from '../drafts/blocks.ts'
import {
  type ContentRange,
  DamagedObject,
  type ImageRecord,
  previewRange,
  type ReadSelection,
  resolveRange,
  type Selection,
  type StoredImage,
  StoreUnavailable,
  storedSize,
} from '../object-store.ts'
import { BLOCK_BYTES, createBlockDigester, matchesDigests } from './block-digests.ts'
import { isThere, storeFault } from './faults.ts'
import { type HotSet, identityOf } from './hot-set.ts'
import { decodeTrailer, type Trailer, tailLength } from './trailer.ts'

// Raw descriptors: with a `FileHandle`, reading a small image costs twice as much.
const openPath = promisify(open)
const readInto = promisify(read)

/** A file up to this size is read in one go, a larger one in chunks. */
const SMALL_FILE_BYTES = CHUNK_BYTES + tailLength(CHUNK_BYTES)

const NOTHING = new Uint8Array()

export type ImageReader = ReturnType<typeof createImageReader>

export interface OpenFile {
  readonly descriptor: number
  /** Unit: bytes. */
  readonly size: number
  /** See `identityOf`. */
  readonly identity: string
}

/** An open image with the digests to verify its blocks. */
interface OpenImage {
  readonly file: OpenFile
  readonly record: ImageRecord
  readonly digests: Buffer
  /** The complete file if it is small, else `null`. */
  readonly whole: Buffer | null
}

/** `hotSet`: caches images that are often read whole. */
export function createImageReader(hotSet: HotSet | null) {
  // Pooled memory: fresh pages from the kernel cost more than the read itself.
  const blocks = createBlockPool()
  let streams = 0

  async function openImage(
    file: OpenFile,
    { path, id, selection }: { path: string; id: string; selection: Selection },
    keepOpen: () => void,
  ): Promise<StoredImage | null> {
    const isSmall = file.size <= SMALL_FILE_BYTES
    const reservation = selection === 'all' && hotSet?.countView(id) ? hotSet.reserve(file.size) : null
    const pooled = isSmall && reservation === null ? acquireSized(blocks, file.size) : null
    try {
      const end = await readEnd(file, isSmall ? file.size : tailLength(file.size), pooled?.memory)
      const trailer = trailerIn(end, file, id)
      if (trailer === null) return null
      const { record } = trailer
      const wanted = typeof selection === 'function' ? selection(record) : selection
      const span = spanOf(record, wanted)
      if (span === null) {
        pooled?.release()
        return { record, body: NOTHING }
      }
      const range = typeof wanted === 'object' ? span : undefined
      const digests = trailer.digests ?? (await hashImage(file, record))
      const image = { file, record, digests, whole: isSmall ? end : null }
      if (reservation !== null)
        return reservation.add({ record, body: await readAll(image) }, path, file.identity)
      if (isSmall || span.last - span.first < CHUNK_BYTES) {
        const { memory, release } = pooled ?? acquireSized(blocks, CHUNK_BYTES + BLOCK_BYTES)
        return { record, range, body: await readBlocks(image, span, memory), release }
      }
      keepOpen()
      return { record, range, ...streamOf(image, span) }
    } catch (error) {
      pooled?.release()
      throw error
    } finally {
      reservation?.cancel()
    }
  }

  /**
   * A stream that reads one chunk ahead. Closes the file at the end, on an error and on cancellation, but never while a
   * read is in flight.
   */
  function streamOf(image: OpenImage, span: ContentRange): Pick<StoredImage, 'body' | 'reuse'> {
    const chunkBytes = chunkBytesFor(++streams)
    // By buffer. If the consumer never calls `reuse`, the chunks are garbage-collected.
    const releases = new WeakMap<ArrayBufferLike, () => void>()
    let at = span.first
    let ahead: Promise<Uint8Array> | undefined
    let isClosed = false

    async function readChunk(): Promise<Uint8Array> {
      const { memory, release } = acquireSized(blocks, chunkBytes)
      const first = at
      at = Math.min(span.last + 1, at - (at % BLOCK_BYTES) + chunkBytes)
      const chunk = await readBlocks(image, { first, last: at - 1 }, memory)
      releases.set(chunk.buffer, release)
      if (at > span.last) close()
      return chunk
    }

    function readAhead(): void {
      ahead = at <= span.last ? readChunk() : undefined
      // Handled where it is awaited. Without a consumer, a failure is irrelevant.
      ahead?.catch(() => {})
    }

    function reuse({ buffer }: Uint8Array): void {
      releases.get(buffer)?.()
      releases.delete(buffer)
    }

    function close(): void {
      if (isClosed) return
      isClosed = true
      streams--
      closeSync(image.file.descriptor)
    }

    readAhead()
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          try {
            controller.enqueue((await ahead)!)
            readAhead()
            if (ahead === undefined) controller.close()
          } catch (error) {
            close()
            throw damageOf(error, image.record.id)
          }
        },
        async cancel() {
          const chunk = await ahead?.catch(() => {})
          if (chunk !== undefined) reuse(chunk)
          close()
        },
      },
      // The chunk that was read ahead stays out of the stream's queue, where it could not be released on cancellation.
      { highWaterMark: 0 },
    )
    return { body, reuse }
  }

  /** The record alone. `null` if there is none. Throws `DamagedObject`, `StoreUnavailable`. */
  async function head(path: string, id: string): Promise<ImageRecord | null> {
    const trailer = await withFile(path, id, (file) => readTrailer(file, id))
    return trailer?.record ?? null
  }

  return {
    head,
    /**
     * Identity of an image's file (see `identityOf`), even if it is damaged. `null` if there is none. On a case-insensitive
     * file system another ID's file may match the name; this counts as none.
     */
    identify: (path: string, id: string) =>
      withFile(path, id, async (file) => {
        try {
          return (await readTrailer(file, id)) === null ? null : file.identity
        } catch (error) {
          if (damageOf(error, id) instanceof DamagedObject) return file.identity
          throw error
        }
      }),
    /** Implements `ObjectStore.open`. */
    open: (path: string, id: string, selection: Selection = 'all') =>
      withFile(
        path,
        id,
        (file, keepOpen) => openImage(file, { path, id, selection }, keepOpen),
        hotSet?.wasViewed(id),
      ),
  }
}

/**
 * Opens the file at `path` for `use`. `isKnown`: the file was open recently, so the kernel has its inode cached and opening it
 * synchronously is cheaper than a thread-pool round trip. `null` if there is no file. Throws `DamagedObject`,
 * `StoreUnavailable`.
 */
export async function withFile<T>(
  path: string,
  id: string,
  use: (file: OpenFile, keepOpen: () => void) => Promise<T>,
  isKnown = false,
): Promise<T | null> {
  let descriptor: number | undefined
  try {
    descriptor = isKnown ? openSync(path, 'r') : await openPath(path, 'r')
    // For an open file the kernel answers without disk access.
    const stats = fstatSync(descriptor)
    return await use({ descriptor, size: stats.size, identity: identityOf(stats) }, () => {
      descriptor = undefined
    })
  } catch (error) {
    if (isCode(error, 'ENOENT')) return absentFrom(dirname(path))
    return storeFault(damageOf(error, id))
  } finally {
    // Synchronous: a file that was only read has nothing to write back, and a thread-pool round trip costs ten times as much.
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** While the disk is not mounted, no image is known to be gone: clients discard the deletion keys of those that are. */
async function absentFrom(folder: string): Promise<null> {
  if (await isThere(folder)) return null
  throw new StoreUnavailable({ cause: new Error(`${folder} is missing`) })
}

/** `null` if the file belongs to another ID, as on a case-insensitive file system. Throws `DamagedObject`. */
export async function readTrailer(file: OpenFile, id: string): Promise<Trailer | null> {
  return trailerIn(await readEnd(file, tailLength(file.size)), file, id)
}

function trailerIn(end: Buffer, { size }: OpenFile, id: string): Trailer | null {
  const trailer = decodeTrailer(end.subarray(end.length - tailLength(size)), size)
  if (trailer === null) throw new DamagedObject(id)
  return trailer.record.id === id ? trailer : null
}

/**
 * Verifies a whole image and its preview against the SHA-256 digests in the record. Returns their block digests. Throws
 * `DamagedObject`.
 */
export async function hashImage(file: OpenFile, record: ImageRecord): Promise<Buffer> {
  const bytes = storedSize(record)
  const digester = createBlockDigester()
  const comparison = compareDigests(record)
  const chunk = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, bytes))
  for (let at = 0; at < bytes; at += chunk.length) {
    const read = await readFully(file, at, chunk.subarray(0, bytes - at))
    comparison.update(read, at)
    digester.update(read)
  }
  if (!comparison.isSound()) throw new DamagedObject(record.id)
  return digester.digests()
}

/** Incrementally compares stored bytes with the digests of their record. Chunks must come in order. */
export function compareDigests(record: ImageRecord) {
  const image = createHash('sha256')
  const range = previewRange(record)
  const preview = range && createHash('sha256')
  return {
    /** `at`: offset of the chunk in the stored bytes. */
    update(chunk: Uint8Array, at: number) {
      if (at < record.size) image.update(chunk.subarray(0, record.size - at))
      if (range === null) return
      preview?.update(chunk.subarray(Math.max(0, range.first - at), Math.max(0, range.last + 1 - at)))
    },
    isSound: () => image.digest('hex') === record.sha256 && preview?.digest('hex') === record.preview?.sha256,
  }
}

/** The range of stored bytes that `wanted` selects. `null` if none. Throws `UnsatisfiableRange`. */
function spanOf(record: ImageRecord, wanted: ReadSelection): ContentRange | null {
  if (typeof wanted === 'object') return resolveRange(wanted, record.size)
  switch (wanted) {
    case 'all':
      return { first: 0, last: record.size - 1 }
    case 'stored':
      return { first: 0, last: storedSize(record) - 1 }
    case 'preview':
      return previewRange(record)
    case 'nothing':
      return null
  }
}

async function readAll(image: OpenImage): Promise<Uint8Array> {
  const { whole, record } = image
  // The image's last block may also contain the start of its preview.
  const blockBytes = Math.min(storedSize(record), Math.ceil(record.size / BLOCK_BYTES) * BLOCK_BYTES)
  const body = whole ?? Buffer.allocUnsafeSlow(blockBytes)
  for (let first = 0; first < record.size; first += CHUNK_BYTES) {
    const last = Math.min(record.size, first + CHUNK_BYTES) - 1
    await readBlocks(image, { first, last }, body.subarray(first))
  }
  return body.subarray(0, record.size)
}

/** The more streams are open, the smaller their chunks, so that slow clients hold little memory. A stream holds two. */
function chunkBytesFor(streams: number): number {
  if (streams <= 8) return LARGE_CHUNK_BYTES
  if (streams <= 32) return LARGE_CHUNK_BYTES / 2
  return BLOCK_BYTES
}

/** Bytes `first` to `last`, after verifying their blocks. `memory`: has room for these blocks if they still have to be read. */
async function readBlocks(
  { file, record, digests, whole }: OpenImage,
  { first, last }: ContentRange,
  memory: Buffer,
): Promise<Uint8Array> {
  const start = first - (first % BLOCK_BYTES)
  const end = Math.min(storedSize(record), last - (last % BLOCK_BYTES) + BLOCK_BYTES)
  const blocks =
    whole?.subarray(start, end) ?? (await readFully(file, start, memory.subarray(0, end - start)))
  if (!matchesDigests(blocks, digests, start / BLOCK_BYTES)) throw new DamagedObject(record.id)
  return blocks.subarray(first - start, last + 1 - start)
}

function readEnd(file: OpenFile, bytes: number, memory = Buffer.allocUnsafeSlow(bytes)): Promise<Buffer> {
  return readFully(file, file.size - bytes, memory.subarray(0, bytes))
}

/** Fills `into` from `offset`. Throws `CutShort`. */
async function readFully<T extends Uint8Array>(file: OpenFile, offset: number, into: T): Promise<T> {
  for (let filled = 0; filled < into.length; ) {
    const { bytesRead } = await readInto(file.descriptor, into, filled, into.length - filled, offset + filled)
    if (bytesRead === 0) throw new CutShort()
    filled += bytesRead
  }
  return into
}

/** The file was truncated. */
class CutShort extends Error {
  constructor() {
    super('the file ended early')
    this.name = 'CutShort'
  }
}

function damageOf(error: unknown, id: string): unknown {
  return error instanceof CutShort ? new DamagedObject(id, { cause: error }) : error
}
