/** A run of an image's file as a stream. Node only. */

import type { ContentRange, StoredImage } from '../object-store.ts'
import { DamagedObject } from '../object-store.ts'
import type { RunCheck } from './check.ts'
import { CutShort, closeFile, type OpenFile, readFully } from './file.ts'
import type { ReadBlock, ReadBlocks } from './read-blocks.ts'

/**
 * Reads one piece ahead: the next is there when the client has taken the last. Closes `file` with its end, with an error
 * and when it is cancelled, but not under a read that is under way.
 */
export function streamRun(
  file: OpenFile,
  id: string,
  { run, pieceBytes, check }: RunCheck,
  wanted: ContentRange,
  blocks: ReadBlocks,
): Pick<StoredImage, 'body' | 'reuse'> {
  let at = run.first
  let isReading = false
  let isCancelled = false
  /** Those that were handed out. */
  const blocksOf = new Map<ArrayBufferLike, ReadBlock>()

  async function readPiece(): Promise<Uint8Array> {
    const block = blocks.take(Math.min(pieceBytes, run.last + 1 - at))
    const piece = block.bytes
    isReading = true
    try {
      await readFully(file, at, piece)
    } finally {
      isReading = false
    }
    check(piece, at)
    const skipped = Math.max(0, wanted.first - at)
    const kept = Math.min(piece.length, wanted.last + 1 - at)
    at += piece.length
    blocksOf.set(piece.buffer, block)
    return piece.subarray(skipped, kept)
  }

  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const piece = await readPiece()
          if (isCancelled) return closeFile(file)
          controller.enqueue(piece)
          if (at <= run.last) return
          closeFile(file)
          controller.close()
        } catch (error) {
          closeFile(file)
          if (!isCancelled) throw error instanceof CutShort ? new DamagedObject(id, { cause: error }) : error
        }
      },
      cancel() {
        isCancelled = true
        if (!isReading) closeFile(file)
      },
    },
    { highWaterMark: 1 },
  )
  return {
    body,
    reuse({ buffer }) {
      blocksOf.get(buffer)?.give()
      blocksOf.delete(buffer)
    },
  }
}
