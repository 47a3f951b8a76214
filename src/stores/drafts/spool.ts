/**
 * Receives uploads of unknown length in constant memory: a draft that fits into one block stays in memory, a larger one goes
 * to a temporary file. Node only.
 */
import { createHash, type Hash, hash } from 'node:crypto'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type ByteSource,
  CHUNK_BYTES,
  isWhole,
  memorySource,
  readSegments,
  type Segment,
} from '../../formats/image.ts'
import { type BlockPool, blockSizeFor, createBlockPool, type Memory } from './blocks.ts'
import { assertWithin, type DraftBytes } from './draft.ts'
import { draftPrefix, sweepDrafts } from './sweep.ts'

/** Write buffer of a draft that is not known to fit into memory. Unit: bytes. */
const BLOCK_BYTES = 64 * 1024

/** Memory limit for all drafts together. Above it, even a small draft goes to a file. Unit: bytes. */
const TOTAL_BYTES = 32 * 1024 * 1024

/**
 * Distance from the announced end within which a preview may start. The blocks of this range stay in memory, where the
 * preview is looked for.
 */
const PREVIEW_REACH_BYTES = 3 * BLOCK_BYTES

export type Spool = ReturnType<typeof createSpool>

/** A received draft. */
export interface Spooled extends DraftBytes {
  /** The temporary file, if there is one. The caller may append to it, flush it or move it away. */
  readonly file: SpooledFile | null
  /**
   * Hands over the block that holds the draft at offset 0, with room for `bytes` in total. `null` if the draft is in a file, or
   * if its block is too small or far too large.
   */
  detach(bytes: number): Memory | null
  /** Closes and removes the file. Idempotent; harmless after the file was moved away and after `detach`. */
  discard(): Promise<void>
}

export interface SpooledFile {
  readonly path: string
  readonly handle: FileHandle
  /** Result of the spool's digester. Empty without one. */
  digests(): Uint8Array
}

/** Receives the bytes that are written to a file, in order. */
export interface Digester {
  update(chunk: Uint8Array): void
  digests(): Uint8Array
}

/** Containers may share host name and process number: each process has a random number too. */
const RUN = crypto.randomUUID().slice(0, 8)

/** Global to the process, since two of its spools may share a folder. */
let serial = 0

export interface SpoolOptions {
  digester?: () => Digester
  /** Room to reserve after a draft of `draftBytes` for what the caller of `detach` appends. Unit: bytes. Default: 0. */
  spare?: (draftBytes: number) => number
}

/** `folder` must exist. */
export function createSpool(folder: string, options: SpoolOptions = {}) {
  const blocks = createBlockPool()
  /** A unique path in the spool's folder, across processes and calls. */
  const path = () => join(folder, `${draftPrefix(process.pid)}${RUN}-${++serial}`)

  function blockBytes(limitBytes: number): number {
    const isSmall = limitBytes <= CHUNK_BYTES && blocks.acquiredBytes() <= TOTAL_BYTES
    if (!isSmall) return BLOCK_BYTES
    return blockSizeFor(limitBytes + (options.spare?.(limitBytes) ?? 0))
  }

  /**
   * `limitBytes`: the maximum allowed size, or the announced size if that is smaller. Throws `Refusal('file-too-large')` when
   * it is exceeded, and rethrows errors of `body`. On an error nothing is left behind.
   */
  async function receive(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<Spooled> {
    const running = createHash('sha256')
    const digester = options.digester?.()
    const checkpoints: Checkpoint[] = []
    const tail = createTail(blocks)
    let hashed = 0
    let file: Pick<SpooledFile, 'path' | 'handle'> | null = null
    // Chunks are copied rather than retained: short-lived chunks cost the garbage collector nothing.
    let block = blocks.acquire(blockBytes(limitBytes))
    let filled = 0
    let size = 0

    async function write(): Promise<void> {
      if (file === null) {
        const temporary = path()
        file = { path: temporary, handle: await open(temporary, 'wx+', 0o600) }
      }
      const bytes = block.subarray(0, filled)
      const isNearEnd = hashed + PREVIEW_REACH_BYTES >= limitBytes
      if (isNearEnd) checkpoints.push({ at: hashed, hash: running.copy() })
      running.update(bytes)
      digester?.update(bytes)
      await file.handle.appendFile(bytes)
      if (isNearEnd && blocks.acquiredBytes() <= TOTAL_BYTES) {
        tail.keep(block, hashed, filled)
        block = blocks.acquire(block.length)
      }
      hashed += filled
      filled = 0
    }

    async function discard(): Promise<void> {
      tail.release()
      if (file === null) return
      await file.handle.close().catch(() => {})
      // What can't be removed is swept at the next start.
      await rm(file.path, { force: true }).catch(() => {})
    }

    try {
      for await (const chunk of body) {
        size += chunk.length
        assertWithin(limitBytes, size)
        for (let at = 0; at < chunk.length; ) {
          if (filled === block.length) await write()
          const part = chunk.subarray(at, at + block.length - filled)
          block.set(part, filled)
          filled += part.length
          at += part.length
        }
      }
      if (file !== null) await write()
    } catch (error) {
      blocks.release(block)
      await discard()
      throw error
    }
    if (file === null) return spooledMemory(block, size, blocks)
    blocks.release(block)
    const { handle } = file as SpooledFile
    const whole = running.digest('hex')
    const source = fileSource(handle, size, tail)
    return {
      ...source,
      file: { ...(file as SpooledFile), digests: () => digester?.digests() ?? new Uint8Array() },
      digest: async (segments) =>
        isWhole(segments, size)
          ? whole
          : digestOf(segments, (rest) => chunksOf(handle, rest, { blocks, tail }), checkpoints),
      bytes: (segments) => readSegments(source, segments),
      detach: () => null,
      discard,
    }
  }

  return {
    receive,
    path,
    /** Removes the drafts of dead processes, or those of process `pid` on this host. */
    sweep: (pid?: number) => sweepDrafts(folder, pid),
  }
}

function spooledMemory(block: Buffer<ArrayBuffer>, size: number, blocks: BlockPool): Spooled {
  const bytes = block.subarray(0, size)
  const source = memorySource(bytes)
  const checkpoints: Checkpoint[] = []
  let isDiscarded = false
  let whole: string | undefined
  return {
    ...source,
    file: null,
    async digest(segments) {
      // On the main thread: for so few bytes, hashing is quicker than a thread-pool round trip.
      const compute = () => digestOf(segments, (rest) => readSegments(source, rest), checkpoints)
      if (!isWhole(segments, bytes.length)) return compute()
      whole ??= checkpoints.length === 0 ? hash('sha256', bytes) : await compute()
      return whole
    },
    bytes: (segments) => readSegments(source, segments),
    detach(bytes) {
      if (isDiscarded || block.length !== blockSizeFor(bytes)) return null
      isDiscarded = true
      return blocks.detach(block)
    },
    async discard() {
      if (!isDiscarded) blocks.release(block)
      isDiscarded = true
    },
  }
}

function fileSource(handle: FileHandle, size: number, tail: Tail): ByteSource {
  return {
    size,
    async read(offset, length) {
      const wanted = Math.max(0, Math.min(length, size - offset))
      const inMemory = tail.read(offset, wanted)
      if (inMemory !== null) return inMemory
      const buffer = Buffer.allocUnsafe(wanted)
      let filled = 0
      while (filled < wanted) {
        const { bytesRead } = await handle.read(buffer, filled, wanted - filled, offset + filled)
        if (bytesRead === 0) break
        filled += bytesRead
      }
      return buffer.subarray(0, filled)
    },
  }
}

/** Hash state after the first `at` bytes of a draft. */
interface Checkpoint {
  at: number
  hash: Hash
}

/**
 * `checkpoints`: in ascending order. If the segments start with a prefix of the draft, hashing resumes there; a single prefix
 * becomes the only checkpoint of a draft without one, since the digests of an image and of its whole upload are both needed.
 */
async function digestOf(
  segments: Segment[],
  chunksOf: (segments: Segment[]) => AsyncIterable<Uint8Array>,
  checkpoints: Checkpoint[],
): Promise<string> {
  const [first, ...others] = segments
  const isBeginning = first !== undefined && !(first instanceof Uint8Array) && first.offset === 0
  const known = isBeginning ? checkpoints.findLast(({ at }) => at <= first.length) : undefined
  const digest = known?.hash.copy() ?? createHash('sha256')
  const rest = known ? [{ offset: known.at, length: first!.length - known.at }, ...others] : segments
  for await (const chunk of chunksOf(rest)) digest.update(chunk)
  if (isBeginning && others.length === 0 && checkpoints.length === 0)
    checkpoints.push({ at: first.length, hash: digest.copy() })
  return digest.digest('hex')
}

/** Like `readSegments`, but all chunks share one block: each is only valid until the next one is requested. */
async function* chunksOf(
  handle: FileHandle,
  segments: Segment[],
  { blocks, tail }: { blocks: BlockPool; tail: Tail },
): AsyncGenerator<Uint8Array> {
  const block = blocks.acquire(BLOCK_BYTES)
  const read = async (at: number, length: number) => {
    const wanted = Math.min(block.length, length)
    const inMemory = tail.read(at, wanted)
    if (inMemory !== null) return inMemory
    const { bytesRead } = await handle.read(block, 0, wanted, at)
    return block.subarray(0, bytesRead)
  }
  try {
    yield* readSegments({ size: Number.POSITIVE_INFINITY, read }, segments)
  } finally {
    blocks.release(block)
  }
}

type Tail = ReturnType<typeof createTail>

/** Keeps the end of a draft in memory, since the search for a preview would otherwise read it from disk. */
function createTail(blocks: BlockPool) {
  const kept: { block: Buffer<ArrayBuffer>; at: number; length: number }[] = []
  return {
    /** Takes ownership of a block whose first `length` bytes are those of the draft at offset `at`. */
    keep(block: Buffer<ArrayBuffer>, at: number, length: number): void {
      kept.push({ block, at, length })
    },
    /** A copy of `length` bytes at `offset`; `null` unless all of them are in memory. */
    read(offset: number, length: number): Buffer | null {
      const end = offset + length
      const parts = kept
        .filter((one) => one.at < end && one.at + one.length > offset)
        .map((one) => one.block.subarray(Math.max(0, offset - one.at), Math.min(one.length, end - one.at)))
      const found = parts.reduce((sum, part) => sum + part.length, 0)
      return found < length ? null : Buffer.concat(parts)
    },
    /** Returns all blocks to the pool. */
    release(): void {
      for (const { block } of kept.splice(0)) blocks.release(block)
    },
  }
}
