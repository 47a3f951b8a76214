/**
 * Blocks of memory that are used again. A buffer made for each upload would be garbage outside V8's heap, which makes it
 * collect the whole heap every hundred uploads. Node only.
 */
export interface Blocks {
  /** Its bytes are what the last user left. */
  take(bytes: number): Buffer<ArrayBuffer>
  /** To be called once for each block taken, when nobody reads it any more. */
  give(block: Buffer<ArrayBuffer>): void
  /** Of all blocks that are taken now. */
  takenBytes(): number
}

/** Blocks of one size that are kept for the next to take. */
const KEPT_BLOCKS = 64

export function createBlocks(): Blocks {
  const kept = new Map<number, Buffer<ArrayBuffer>[]>()
  let taken = 0

  return {
    take(bytes) {
      taken += bytes
      return kept.get(bytes)?.pop() ?? Buffer.allocUnsafeSlow(bytes)
    },
    give(block) {
      taken -= block.length
      const sameSize = kept.get(block.length) ?? []
      kept.set(block.length, sameSize)
      if (sameSize.length < KEPT_BLOCKS) sameSize.push(block)
    },
    takenBytes: () => taken,
  }
}
