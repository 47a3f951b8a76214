/** Memory that reads from files share: fresh pages from the system cost a read more than its bytes do. Node only. */

export interface ReadBlocks {
  take(bytes: number): ReadBlock
}

export interface ReadBlock {
  /** As many as were asked for, with what the last user left in them. */
  readonly bytes: Buffer<ArrayBuffer>
  /**
   * Once nobody reads them any more. A second time is harmless. What is never given back is garbage like any other.
   */
  give(): void
}

/** Unit: bytes. */
const SIZES = [16 * 1024, 72 * 1024, 144 * 1024, 400 * 1024]

/** Of each size, for the next to take. */
const KEPT_BLOCKS = 32

export function createReadBlocks(): ReadBlocks {
  const kept = new Map<number, Buffer<ArrayBuffer>[]>(SIZES.map((size) => [size, []]))

  return {
    take(bytes) {
      const size = SIZES.find((size) => bytes <= size) ?? bytes
      const blocks = kept.get(size)
      const block = blocks?.pop() ?? Buffer.allocUnsafeSlow(size)
      let isTaken = true
      return {
        bytes: block.subarray(0, bytes),
        give() {
          if (isTaken && blocks !== undefined && blocks.length < KEPT_BLOCKS) blocks.push(block)
          isTaken = false
        },
      }
    },
  }
}
