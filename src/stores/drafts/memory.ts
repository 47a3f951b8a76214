/** Drafts that are known to be small: they stay in memory until they are stored. Node only. */
import { createHash, hash } from 'node:crypto'
import { Refusal } from '../../errors.ts'
import {
  type ByteSource,
  bytesOf,
  isWhole,
  lengthOf,
  PIECE_BYTES,
  type Segment,
  sourceOf,
} from '../../formats/image.ts'
import { createBlocks } from './blocks.ts'
import type { Gathered, Spooled } from './spooled.ts'

const SMALL_BYTES = 64 * 1024

/** Room behind a draft for what the store puts there. With it the sizes of blocks are whole pages. */
const TAIL_BYTES = 8 * 1024

/** All drafts together stay below this: beyond it even a small one gets a file. */
const TOTAL_BYTES = 32 * 1024 * 1024

export interface MemorySpool {
  /** Whether a draft of at most so many bytes may stay in memory now. */
  hasRoom(limitBytes: number): boolean
  /** As `Spool.receive`. */
  receive(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<Spooled>
}

export function createMemorySpool(): MemorySpool {
  const blocks = createBlocks({ isAligned: true })
  // Beyond their drafts: they count where they are kept.
  let keptBytes = 0

  async function receive(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<Spooled> {
    const blockBytes = (limitBytes <= SMALL_BYTES ? SMALL_BYTES : PIECE_BYTES) + TAIL_BYTES
    const block = blocks.take(blockBytes)
    let size = 0
    try {
      for await (const chunk of body) {
        const at = size
        size += chunk.length
        assertWithin(limitBytes, size)
        // Copied, not kept: chunks that die young cost the garbage collector nothing.
        block.set(chunk, at)
      }
    } catch (error) {
      blocks.give(block)
      throw error
    }
    const bytes = block.subarray(0, size)
    let gathered: Buffer<ArrayBuffer> | undefined
    let kept: Buffer<ArrayBuffer> | undefined

    function gather(segments: Segment[]): Gathered | null {
      const length = lengthOf(segments)
      if (length + TAIL_BYTES > blockBytes || gathered !== undefined) return null
      gathered = block
      if (!isWhole(segments, size)) {
        if (!movesDown(segments, block)) gathered = blocks.take(blockBytes)
        let at = 0
        for (const piece of piecesOf(bytes, segments)) {
          gathered.set(piece, at)
          at += piece.length
        }
      }
      return gatheredIn(gathered, length)
    }

    function gatheredIn(target: Buffer<ArrayBuffer>, length: number): Gathered {
      return {
        bytes: target.subarray(0, length),
        append(tail) {
          target.set(tail, length)
          return target.subarray(0, length + tail.length)
        },
        keep() {
          kept = target
          keptBytes += blockBytes
          return {
            bytes: target.subarray(0, length),
            heldBytes: blockBytes,
            giveBack() {
              keptBytes -= blockBytes
              blocks.give(target)
            },
          }
        },
      }
    }

    function discard(): void {
      for (const each of new Set([block, gathered])) {
        if (each !== undefined && each !== kept) blocks.give(each)
      }
    }

    return spooledMemory(bytes, { gather, discard })
  }

  return {
    hasRoom: (limitBytes) => limitBytes <= PIECE_BYTES && blocks.takenBytes() - keptBytes <= TOTAL_BYTES,
    receive,
  }
}

export function spooledMemory(
  bytes: Uint8Array<ArrayBuffer>,
  { gather, discard }: { gather: Spooled['gather']; discard: () => void },
): Spooled {
  let isDiscarded = false
  const source = sourceOf(bytes)
  // Here: of so few bytes it takes less time than to hand them to another thread.
  let whole: string | undefined
  return {
    ...source,
    file: null,
    async digest(segments) {
      if (isWhole(segments, bytes.length)) {
        whole ??= hash('sha256', bytes)
        return whole
      }
      const digest = createHash('sha256')
      for (const piece of piecesOf(bytes, segments)) digest.update(piece)
      return digest.digest('hex')
    },
    gather,
    bytes: (segments) => bytesOf(source, segments),
    async discard() {
      if (isDiscarded) return
      isDiscarded = true
      discard()
    },
  }
}

/** Whether the segments can be written over the bytes that they are runs of, as where metadata is cut out. */
function movesDown(segments: Segment[], block: Buffer): boolean {
  let written = 0
  for (const segment of segments) {
    const isSafe = segment instanceof Uint8Array ? !overlaps(segment, block) : segment.offset >= written
    if (!isSafe) return false
    written += segment.length
  }
  return true
}

function overlaps(one: Uint8Array, other: Uint8Array): boolean {
  if (one.buffer !== other.buffer) return false
  return (
    one.byteOffset < other.byteOffset + other.byteLength && other.byteOffset < one.byteOffset + one.byteLength
  )
}

function piecesOf(bytes: Uint8Array, segments: Segment[]): Uint8Array[] {
  return segments.map((segment) =>
    segment instanceof Uint8Array ? segment : bytes.subarray(segment.offset, segment.offset + segment.length),
  )
}

export async function digestOf(source: ByteSource, segments: Segment[]): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of bytesOf(source, segments)) hash.update(piece)
  return hash.digest('hex')
}

/** Throws `Refusal('file-too-large')`. */
export function assertWithin(limitBytes: number, size: number): void {
  if (size <= limitBytes) return
  throw new Refusal(
    'file-too-large',
    `The file is larger than ${limitBytes} bytes, the most this server accepts.`,
  )
}
