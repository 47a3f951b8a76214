/** In-memory drafts. A list of blocks grows with the upload, so that no byte is copied twice. */
import { concatBytes } from '../../bytes.ts'
import { type ByteSource, isWhole, readSegments } from '../../formats/image.ts'
import { assertWithin, type DraftBytes } from '../drafts/draft.ts'
import { digestOf } from './runtime.ts'

/** Size of a draft's blocks. Unit: bytes. */
export const BLOCK_BYTES = 1024 * 1024

/** Throws `Refusal('file-too-large')` above `limitBytes`, and rethrows errors of `body`. */
export async function receive(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<DraftBytes> {
  const blocks: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  for await (const chunk of body) {
    assertWithin(limitBytes, size + chunk.length)
    for (let at = 0; at < chunk.length; ) {
      const filled = size % BLOCK_BYTES
      if (filled === 0) blocks.push(new Uint8Array(Math.min(BLOCK_BYTES, limitBytes - size)))
      const part = chunk.subarray(at, at + BLOCK_BYTES - filled)
      blocks.at(-1)!.set(part, filled)
      size += part.length
      at += part.length
    }
  }
  return blocksOf(blocks, size)
}

function blocksOf(blocks: Uint8Array<ArrayBuffer>[], size: number): DraftBytes {
  let whole: Promise<string> | undefined

  const source: ByteSource = {
    size,
    async read(offset, length) {
      const end = Math.min(size, offset + length)
      const parts: Uint8Array[] = []
      for (let at = offset; at < end; at += parts.at(-1)!.length) parts.push(part(at, end))
      return parts.length === 1 ? parts[0]! : concatBytes(...parts)
    },
  }

  /** The bytes from `offset` to `end`, or to the end of the block if that comes first. */
  function part(offset: number, end: number): Uint8Array<ArrayBuffer> {
    const index = Math.floor(offset / BLOCK_BYTES)
    return blocks[index]!.subarray(
      offset - index * BLOCK_BYTES,
      Math.min(BLOCK_BYTES, end - index * BLOCK_BYTES),
    )
  }

  return {
    ...source,
    digest(segments) {
      if (!isWhole(segments, size)) return digestOf(readSegments(source, segments))
      whole ??= digestOf(readSegments(source, segments))
      return whole
    },
    bytes: (segments) => readSegments(source, segments),
    async discard() {
      // Detaching frees the memory immediately. Left to the garbage collector, it exceeded an isolate's limit before V8 ran a
      // collection (bench `workers`).
      for (const { buffer } of blocks) buffer.transfer(0)
      blocks.length = 0
    },
  }
}
