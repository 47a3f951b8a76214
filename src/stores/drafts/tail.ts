/** The end of a draft, in memory: a preview is looked for there, and each look into the file is a trip to the disk. Node only. */
import type { Blocks } from './blocks.ts'

export interface Tail {
  /** Takes over a block whose first `length` bytes are those of the draft from `at` on. */
  keep(block: Buffer<ArrayBuffer>, at: number, length: number): void
  /** A copy of `length` bytes from `offset` on; `null` if not all of them are here. */
  read(offset: number, length: number): Buffer | null
  /** Gives all blocks back. */
  release(): void
}

export function createTail(blocks: Blocks): Tail {
  const kept: { block: Buffer<ArrayBuffer>; at: number; length: number }[] = []
  return {
    keep(block, at, length) {
      kept.push({ block, at, length })
    },
    read(offset, length) {
      const end = offset + length
      const parts = kept
        .filter((one) => one.at < end && one.at + one.length > offset)
        .map((one) => one.block.subarray(Math.max(0, offset - one.at), Math.min(one.length, end - one.at)))
      const found = parts.reduce((sum, part) => sum + part.length, 0)
      return found < length ? null : Buffer.concat(parts)
    },
    release() {
      for (const { block } of kept.splice(0)) blocks.release(block)
    },
  }
}
