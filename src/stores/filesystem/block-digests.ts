/**
 * Per-block digests: a read verifies only the blocks it sends. XXH64, at more than 10 GB/s per core
 * (docs/decisions/009). They detect bit rot and truncation, not tampering: anyone who can write to the folder can write
 * digests too. `verify` checks the record's SHA-256.
 */
import xxhash from 'xxhash-wasm'

const { h64Raw } = await xxhash()

/** Block size. The last block of an image may be shorter. Unit: bytes. */
export const BLOCK_BYTES = 64 * 1024

/** Size of one digest. Unit: bytes. */
const DIGEST_BYTES = 8

/** Total size of an image's digests. Unit: bytes. */
export function digestsLength(imageBytes: number): number {
  return Math.ceil(imageBytes / BLOCK_BYTES) * DIGEST_BYTES
}

/** Digests of a complete image, concatenated, little-endian. */
export function blockDigestsOf(image: Uint8Array): Buffer {
  // Not via `createBlockDigester`, which allocates a full block to buffer a short last one.
  const digests = Buffer.alloc(digestsLength(image.length))
  for (let start = 0, at = 0; start < image.length; start += BLOCK_BYTES, at += DIGEST_BYTES) {
    digests.writeBigUInt64LE(h64Raw(image.subarray(start, start + BLOCK_BYTES)), at)
  }
  return digests
}

/** Whether `bytes`, whole blocks starting at `firstBlock`, match their digests. */
export function matchesDigests(bytes: Uint8Array, digests: Buffer, firstBlock: number): boolean {
  let at = firstBlock * DIGEST_BYTES
  for (let start = 0; start < bytes.length; start += BLOCK_BYTES, at += DIGEST_BYTES) {
    const block = bytes.subarray(start, start + BLOCK_BYTES)
    if (at >= digests.length || digests.readBigUInt64LE(at) !== h64Raw(block)) return false
  }
  return true
}

/** Computes block digests incrementally, from chunks of any length. */
export function createBlockDigester() {
  const blockDigests: bigint[] = []
  let pending = Buffer.alloc(0)
  let filled = 0

  /** Consumes up to one block of `chunk`. Returns the remainder. */
  function consumeBlock(chunk: Uint8Array): Uint8Array {
    if (filled === 0 && chunk.length >= BLOCK_BYTES) {
      blockDigests.push(h64Raw(chunk.subarray(0, BLOCK_BYTES)))
      return chunk.subarray(BLOCK_BYTES)
    }
    if (pending.length === 0) pending = Buffer.allocUnsafe(BLOCK_BYTES)
    const part = chunk.subarray(0, BLOCK_BYTES - filled)
    pending.set(part, filled)
    filled += part.length
    if (filled === BLOCK_BYTES) flush()
    return chunk.subarray(part.length)
  }

  function flush(): void {
    blockDigests.push(h64Raw(pending.subarray(0, filled)))
    filled = 0
  }

  return {
    update(chunk: Uint8Array): void {
      for (let rest = chunk; rest.length > 0; ) rest = consumeBlock(rest)
    },
    /** The format of `blockDigestsOf`. Call once, after the last `update`. */
    digests(): Buffer {
      if (filled > 0) flush()
      const digests = Buffer.alloc(blockDigests.length * DIGEST_BYTES)
      for (const [block, digest] of blockDigests.entries())
        digests.writeBigUInt64LE(digest, block * DIGEST_BYTES)
      return digests
    },
  }
}
