/**
 * Pool of reusable memory blocks. A fresh buffer per upload or read would be garbage outside V8's heap, and every hundred of
 * them would trigger a full collection. Node only.
 */
export interface BlockPool {
  /** A block of exactly `bytes`, not zeroed. */
  acquire(bytes: number): Buffer<ArrayBuffer>
  /** Call exactly once per acquired block, when it is no longer in use. */
  release(block: Buffer<ArrayBuffer>): void
  /** Alternative to `release`: the block no longer counts as acquired, and its owner returns it via `Memory.release`. */
  detach(block: Buffer<ArrayBuffer>): Memory
  /** Total size of the blocks that are currently acquired. */
  acquiredBytes(): number
}

/** Maximum total size of a pool's free blocks: 64 concurrent drafts of 200 kB. Unit: bytes. */
const KEPT_BYTES = 16 * 1024 * 1024

/** All pools of this process. */
const pools: { keptBytes(): number; drop(): void }[] = []

/** Total size of free blocks in all pools. */
export function keptBlockBytes(): number {
  return pools.reduce((sum, pool) => sum + pool.keptBytes(), 0)
}

/** Frees the free blocks of all pools. */
export function dropKeptBlocks(): void {
  for (const pool of pools) pool.drop()
}

/** A pooled block. `release` is idempotent; a block that is never released is garbage-collected. */
export interface Memory {
  memory: Buffer<ArrayBuffer>
  release: () => void
}

/** Size classes of `acquireSized`: few, so that blocks are likely to be reused. The largest holds a small file. Unit: bytes. */
const SIZES = [16, 64, 128, 256, 320].map((kilobytes) => kilobytes * 1024)

/** Rounds up to a size class. `bytes` itself if it exceeds all of them. */
export function blockSizeFor(bytes: number): number {
  return SIZES.find((size) => bytes <= size) ?? bytes
}

/** A block of at least `bytes`. */
export function acquireSized(blocks: BlockPool, bytes: number): Memory {
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

export function createBlockPool(): BlockPool {
  /** Free blocks by size. */
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
