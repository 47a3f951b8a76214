/**
 * Digests of an image's blocks: a read checks the blocks that it sends and no others. XXH64, which the processor
 * computes at more than ten GB/s (docs/decisions/009). Against rot and cut files, not against people: whoever may write
 * to the folder can write digests too. `verify` checks the record's SHA-256.
 */
import xxhash from 'xxhash-wasm'

const { h64Raw } = await xxhash()

/** The last block of an image may be shorter. Unit: bytes. */
export const BLOCK_BYTES = 64 * 1024

/** Length of one digest. Unit: bytes. */
const DIGEST_BYTES = 8

/** Unit: bytes. */
export function digestsLength(imageBytes: number): number {
  return Math.ceil(imageBytes / BLOCK_BYTES) * DIGEST_BYTES
}

/** The digests of a whole image, one after the other, little-endian. */
export function blockDigestsOf(image: Uint8Array): Buffer {
  // Not by a digester: for a last block that is short it makes memory for a whole one.
  const digests = Buffer.alloc(digestsLength(image.length))
  for (let start = 0, at = 0; start < image.length; start += BLOCK_BYTES, at += DIGEST_BYTES) {
    digests.writeBigUInt64LE(h64Raw(image.subarray(start, start + BLOCK_BYTES)), at)
  }
  return digests
}

/** Whether `bytes` are what they were: whole blocks from `firstBlock` on. */
export function matchesDigests(bytes: Uint8Array, digests: Buffer, firstBlock: number): boolean {
  let at = firstBlock * DIGEST_BYTES
  for (let start = 0; start < bytes.length; start += BLOCK_BYTES, at += DIGEST_BYTES) {
    const block = bytes.subarray(start, start + BLOCK_BYTES)
    if (at >= digests.length || digests.readBigUInt64LE(at) !== h64Raw(block)) return false
  }
  return true
}

/** Digests of an image that comes in pieces of any length. */
export function createBlockDigester() {
  const found: bigint[] = []
  let pending = Buffer.alloc(0)
  let filled = 0

  /** Takes up to a whole block. Gives back what is left. */
  function take(piece: Uint8Array): Uint8Array {
    if (filled === 0 && piece.length >= BLOCK_BYTES) {
      found.push(h64Raw(piece.subarray(0, BLOCK_BYTES)))
      return piece.subarray(BLOCK_BYTES)
    }
    if (pending.length === 0) pending = Buffer.allocUnsafe(BLOCK_BYTES)
    const part = piece.subarray(0, BLOCK_BYTES - filled)
    pending.set(part, filled)
    filled += part.length
    if (filled === BLOCK_BYTES) flush()
    return piece.subarray(part.length)
  }

  function flush(): void {
    found.push(h64Raw(pending.subarray(0, filled)))
    filled = 0
  }

  return {
    update(piece: Uint8Array): void {
      for (let rest = piece; rest.length > 0; ) rest = take(rest)
    },
    /** As `blockDigestsOf` gives them. To be called once. */
    digests(): Buffer {
      if (filled > 0) flush()
      const digests = Buffer.alloc(found.length * DIGEST_BYTES)
      for (const [block, digest] of found.entries()) digests.writeBigUInt64LE(digest, block * DIGEST_BYTES)
      return digests
    },
  }
}
