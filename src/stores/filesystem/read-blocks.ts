/** Memory that reads from files share: fresh pages from the system cost a read more than its bytes do. Node only. */

export interface ReadBlocks {
  /** So many bytes, with what the last user left in them. What is never given back is garbage like any other. */
  take(bytes: number): Buffer<ArrayBuffer>
  /** Any view of what was taken, once nobody reads it any more. A second time is harmless. */
  give(view: Uint8Array): void
}

/** Unit: bytes. */
const SIZES = [16 * 1024, 72 * 1024, 144 * 1024, 400 * 1024]

/** Of each size, for the next to take. */
const KEPT_BLOCKS = 32

export function createReadBlocks(): ReadBlocks {
  const kept = new Map<number, Buffer<ArrayBuffer>[]>(SIZES.map((size) => [size, []]))
  const taken = new WeakMap<ArrayBufferLike, Buffer<ArrayBuffer>>()

  return {
    take(bytes) {
      const size = SIZES.find((size) => bytes <= size) ?? bytes
      const block = kept.get(size)?.pop() ?? Buffer.allocUnsafeSlow(size)
      taken.set(block.buffer, block)
      return block.subarray(0, bytes)
    },
    give(view) {
      const block = taken.get(view.buffer)
      if (block === undefined) return
      taken.delete(view.buffer)
      const blocks = kept.get(block.length)
      if (blocks !== undefined && blocks.length < KEPT_BLOCKS) blocks.push(block)
    },
  }
}
