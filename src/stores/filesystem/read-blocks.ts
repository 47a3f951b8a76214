/** Memory that reads from files share: fresh pages from the system cost a read more than its bytes do. Node only. */
import { BLOCK_BYTES } from './block-digests.ts'

export interface ReadBlocks {
  take(bytes: number): ReadBlock
  /** One of `LARGE_BYTES`. `null` at the limit, so that slow readers cannot hold more memory. */
  takeLarge(): ReadBlock | null
  /** To be called once for each stream; the function that it returns once when the stream ends. */
  beginStream(): () => void
  /** What a stream may take at a time: less where many are open. Unit: bytes. */
  pieceBytes(most: number): number
}

export interface ReadBlock {
  /** As many as were asked for, with what the last user left in them. */
  readonly bytes: Buffer<ArrayBuffer>
  /**
   * Once nobody reads them any more. A second time is harmless. What is never given back is garbage like any other.
   */
  give(): void
  /** Nobody will say when it was read: it is garbage, and another large one may be taken. */
  drop(): void
}

/** Unit: bytes. */
const SIZES = [16 * 1024, 72 * 1024, 144 * 1024, 400 * 1024]

/** Half a megabyte a trip to another thread: it costs as much as to copy a hundred kilobytes. Unit: bytes. */
export const LARGE_BYTES = 512 * 1024

/** Out at once: 8 MB. */
const LARGE_BLOCKS = 16

/** With more streams than this each takes half as much at a time. */
const MANY_STREAMS = 32

/** Of each size, for the next to take. */
const KEPT_BLOCKS = 32

export function createReadBlocks(): ReadBlocks {
  const kept = new Map<number, Buffer<ArrayBuffer>[]>([...SIZES, LARGE_BYTES].map((size) => [size, []]))
  let large = 0
  let streams = 0
  // Not every reader says when it has read.
  const lost = new FinalizationRegistry(() => large--)

  function block(size: number, bytes: number, onReturn: () => void): ReadBlock {
    const blocks = kept.get(size)
    const memory = blocks?.pop() ?? Buffer.allocUnsafeSlow(size)
    let isTaken = true
    const end = (): boolean => {
      const isFirst = isTaken
      isTaken = false
      if (isFirst) onReturn()
      return isFirst
    }
    return {
      bytes: memory.subarray(0, bytes),
      give() {
        if (end() && blocks !== undefined && blocks.length < KEPT_BLOCKS) blocks.push(memory)
      },
      drop: () => void end(),
    }
  }

  return {
    beginStream() {
      streams++
      return () => {
        streams--
      }
    },
    pieceBytes: (most) => (streams > MANY_STREAMS ? Math.min(most, BLOCK_BYTES) : most),
    take: (bytes) => block(SIZES.find((size) => bytes <= size) ?? bytes, bytes, () => {}),
    takeLarge() {
      if (large === LARGE_BLOCKS) return null
      large++
      const taken = block(LARGE_BYTES, LARGE_BYTES, () => {
        large--
        lost.unregister(taken.bytes)
      })
      lost.register(taken.bytes, undefined, taken.bytes)
      return taken
    },
  }
}
