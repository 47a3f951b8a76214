/**
 * Blocks of memory that are used again. A buffer made for each upload or read would be garbage outside V8's heap, which makes
 * it collect the whole heap every hundred of them. Node only.
 */
export interface Blocks {
  /** Its bytes are what the last user left. */
  acquire(bytes: number): Buffer<ArrayBuffer>
  /** To be called once for each block acquired, when nobody reads it any more. */
  release(block: Buffer<ArrayBuffer>): void
  /** Size of all blocks that are acquired now. */
  acquiredBytes(): number
}

/** Blocks of one size that are kept for the next to acquire. */
const KEPT_BLOCKS = 32

/** Those that every pool of the process keeps, by their size. */
const keptByPools: Map<number, Buffer<ArrayBuffer>[]>[] = []

/** Drops all blocks that are kept. */
export function dropKeptBlocks(): void {
  for (const kept of keptByPools) kept.clear()
}

/** Of memory for `acquireSized`: few sizes, so that what one leaves fits the next. The largest holds a small file. Unit: bytes. */
const SIZES = [16, 64, 128, 256, 320].map((kilobytes) => kilobytes * 1024)

/** At least `bytes` long. `release` is harmless a second time; what is not released is garbage. */
export function acquireSized(
  blocks: Blocks,
  bytes: number,
): { memory: Buffer<ArrayBuffer>; release: () => void } {
  const memory = blocks.acquire(SIZES.find((size) => bytes <= size) ?? bytes)
  let isAcquired = true
  const release = () => {
    if (isAcquired) blocks.release(memory)
    isAcquired = false
  }
  return { memory, release }
}

export function createBlocks(): Blocks {
  const kept = new Map<number, Buffer<ArrayBuffer>[]>()
  keptByPools.push(kept)
  let acquired = 0

  return {
    acquire(bytes) {
      acquired += bytes
      return kept.get(bytes)?.pop() ?? Buffer.allocUnsafeSlow(bytes)
    },
    release(block) {
      acquired -= block.length
      const blocks = kept.get(block.length) ?? []
      kept.set(block.length, blocks)
      if (blocks.length < KEPT_BLOCKS) blocks.push(block)
    },
    acquiredBytes: () => acquired,
  }
}
