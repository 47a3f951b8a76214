/** A draft in memory, in blocks that grow as its bytes come: no byte is copied a second time. */
import { type ByteSource, bytesOf, isWhole } from '../../formats/image.ts'
import { assertWithin, type DraftBytes } from '../drafts/draft.ts'
import { digestOf } from './runtime.ts'

/** What the memory of a draft grows by: it holds whole blocks. */
export const BLOCK_BYTES = 1024 * 1024

/** Throws `Refusal('file-too-large')` past `limitBytes`, and what `body` throws. */
export async function receive(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<DraftBytes> {
  const blocks: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  for await (const chunk of body) {
    assertWithin(limitBytes, size + chunk.length)
    for (let at = 0; at < chunk.length; ) {
      const place = size % BLOCK_BYTES
      if (place === 0) blocks.push(new Uint8Array(Math.min(BLOCK_BYTES, limitBytes - size)))
      const part = chunk.subarray(at, at + BLOCK_BYTES - place)
      blocks.at(-1)!.set(part, place)
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
      if (offset >= end) return new Uint8Array()
      const within = part(offset, end)
      if (within.length === end - offset) return within
      const bytes = new Uint8Array(end - offset)
      for (let at = offset; at < end; ) {
        const piece = part(at, end)
        bytes.set(piece, at - offset)
        at += piece.length
      }
      return bytes
    },
  }

  /** From `offset` to `end`, or to the end of the block. */
  function part(offset: number, end: number): Uint8Array<ArrayBuffer> {
    const nth = Math.floor(offset / BLOCK_BYTES)
    return blocks[nth]!.subarray(offset - nth * BLOCK_BYTES, Math.min(BLOCK_BYTES, end - nth * BLOCK_BYTES))
  }

  return {
    ...source,
    digest(segments) {
      if (!isWhole(segments, size)) return digestOf(bytesOf(source, segments))
      whole ??= digestOf(bytesOf(source, segments))
      return whole
    },
    bytes: (segments) => bytesOf(source, segments),
    async discard() {
      // Detached it is free at once: garbage of this kind grew past what an isolate may have before V8 looked (bench `workers`).
      for (const { buffer } of blocks) buffer.transfer(0)
      blocks.length = 0
    },
  }
}
