/**
 * Blocks of memory that are used again. A buffer made for each upload or read would be garbage outside V8's heap, which makes
 * it collect the whole heap every hundred of them. Node only.
 */
export interface Blocks {
  /** Its bytes are what the last user left. */
  acquire(bytes: number): Buffer<ArrayBuffer>
  /** To be called once for each block acquired, when nobody reads it any more. */
  release(block: Buffer<ArrayBuffer>): void
  /** Instead of `release`: the caller keeps the block, which counts as acquired no more, and gives it back by `Memory.release`. */
  detach(block: Buffer<ArrayBuffer>): Memory
  /** Size of all blocks that are acquired now. */
  acquiredBytes(): number
}

/** What a pool keeps for the next to acquire: 64 drafts of 200 kB at once. Unit: bytes. */
const KEPT_BYTES = 16 * 1024 * 1024

/** The pools of the process. */
const pools: { keptBytes(): number; drop(): void }[] = []

/** Size of all blocks that are kept. */
export function keptBlockBytes(): number {
  return pools.reduce((sum, pool) => sum + pool.keptBytes(), 0)
}

/** Drops all blocks that are kept. */
export function dropKeptBlocks(): void {
  for (const pool of pools) pool.drop()
}

/** `release` is harmless a second time; what is not released is garbage. */
export interface Memory {
  memory: Buffer<ArrayBuffer>
  release: () => void
}

/** What `acquireSized` gives: few sizes, so that what one leaves fits the next. The largest holds a small file. Unit: bytes. */
const SIZES = [16, 64, 128, 256, 320].map((kilobytes) => kilobytes * 1024)

/** The size of blocks that hold `bytes`. */
export function blockSizeFor(bytes: number): number {
  return SIZES.find((size) => bytes <= size) ?? bytes
}

/** At least `bytes` long. */
export function acquireSized(blocks: Blocks, bytes: number): Memory {
  const memory = blocks.acquire(blockSizeFor(bytes))
  return { memory, release: once(() => blocks.release(memory)) }
}

function once(release: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) release()
    isDone = true
  }
}

export function createBlocks(): Blocks {
  /** By their size. */
  const kept = new Map<number, Buffer<ArrayBuffer>[]>()
  let keptBytes = 0
  let acquired = 0
  pools.push({
    keptBytes: () => keptBytes,
    drop() {
      kept.clear()
      keptBytes = 0
    },
  })

  function keep(block: Buffer<ArrayBuffer>): void {
    if (keptBytes + block.length > KEPT_BYTES) return
    keptBytes += block.length
    const blocks = kept.get(block.length) ?? []
    kept.set(block.length, blocks)
    blocks.push(block)
  }

  return {
    acquire(bytes) {
      acquired += bytes
      const block = kept.get(bytes)?.pop()
      if (block === undefined) return Buffer.allocUnsafeSlow(bytes)
      keptBytes -= bytes
      return block
    },
    release(block) {
      acquired -= block.length
      keep(block)
    },
    detach(block) {
      acquired -= block.length
      return { memory: block, release: once(() => keep(block)) }
    },
    acquiredBytes: () => acquired,
  }
}
