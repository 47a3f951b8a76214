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
  { run, pieceBytes, mayGrow, check }: RunCheck,
  wanted: ContentRange,
  blocks: ReadBlocks,
): Pick<StoredImage, 'body' | 'reuse'> {
  let at = run.first
  let isReading = false
  let isCancelled = false
  let isClosed = false
  const endStream = blocks.beginStream()
  /** Those that were handed out. */
  const blocksOf = new Map<ArrayBufferLike, ReadBlock>()

  function takeBlock(): ReadBlock {
    const left = run.last + 1 - at
    const large = mayGrow && left > pieceBytes ? blocks.takeLarge() : null
    return large ?? blocks.take(Math.min(blocks.pieceBytes(pieceBytes), left))
  }

  /** Also while pieces wait to be taken: then there may be a cancel behind it. */
  function close(): void {
    if (isClosed) return
    isClosed = true
    closeFile(file)
    endStream()
  }

  async function readPiece(): Promise<Uint8Array> {
    const block = takeBlock()
    const piece = block.bytes.subarray(0, run.last + 1 - at)
    isReading = true
    try {
      await readFully(file, at, piece)
      check(piece, at)
    } catch (error) {
      block.drop()
      throw error
    } finally {
      isReading = false
    }
    const skipped = Math.max(0, wanted.first - at)
    const kept = Math.min(piece.length, wanted.last + 1 - at)
    at += piece.length
    blocksOf.set(piece.buffer, block)
    return piece.subarray(skipped, kept)
  }

  /** The pieces that were handed out may still be on their way to the client. */
  function end(): void {
    close()
    for (const block of blocksOf.values()) block.drop()
    blocksOf.clear()
  }

  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const piece = await readPiece()
          if (isCancelled) return end()
          controller.enqueue(piece)
          if (at <= run.last) return
          close()
          controller.close()
        } catch (error) {
          close()
          if (!isCancelled) throw error instanceof CutShort ? new DamagedObject(id, { cause: error }) : error
        }
      },
      cancel() {
        isCancelled = true
        if (!isReading) end()
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
