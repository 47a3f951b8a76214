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

/** Aligned blocks are made so many at a time. */
const SLAB_BLOCKS = 16

/** https://webassembly.github.io/spec/core/exec/runtime.html, "Memory Instances". */
const WEBASSEMBLY_PAGE_BYTES = 64 * 1024

/** Those that every pool of the process keeps, by their size. */
const keptByPools: Map<number, Buffer<ArrayBuffer>[]>[] = []

/** Drops all blocks that are kept. A slab goes with the last of its blocks. */
export function dropKeptBlocks(): void {
  for (const kept of keptByPools) kept.clear()
}

/**
 * `isAligned`: each block starts at a page of 4096 bytes, if their sizes are whole pages. Only a
 * `WebAssembly.Memory` promises that.
 */
export function createBlocks(options: { isAligned: boolean }): Blocks {
  const kept = new Map<number, Buffer<ArrayBuffer>[]>()
  keptByPools.push(kept)
  let taken = 0

  function keptOf(bytes: number): Buffer<ArrayBuffer>[] {
    let blocks = kept.get(bytes)
    if (blocks === undefined) {
      blocks = []
      kept.set(bytes, blocks)
    }
    return blocks
  }

  return {
    take(bytes) {
      taken += bytes
      const blocks = keptOf(bytes)
      if (options.isAligned && blocks.length === 0) blocks.push(...slabOf(bytes))
      return blocks.pop() ?? Buffer.allocUnsafeSlow(bytes)
    },
    give(block) {
      taken -= block.length
      const blocks = keptOf(block.length)
      if (blocks.length < KEPT_BLOCKS) blocks.push(block)
    },
    takenBytes: () => taken,
  }
}

/** Its pages take room when they are first written. None if the process may not map so much. */
function slabOf(bytes: number): Buffer<ArrayBuffer>[] {
  try {
    const initial = Math.ceil((SLAB_BLOCKS * bytes) / WEBASSEMBLY_PAGE_BYTES)
    const { buffer } = new WebAssembly.Memory({ initial })
    return Array.from({ length: SLAB_BLOCKS }, (_, nth) => Buffer.from(buffer, nth * bytes, bytes))
  } catch {
    return []
  }
}
