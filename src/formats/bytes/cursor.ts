/** A window over a source. A walk reads from it synchronously, and awaits only to move the window or to yield the thread. */
import { type ByteSource, CHUNK_BYTES } from '../image.ts'
import { newWork, type Work } from './work.ts'

export interface Cursor {
  /** Where the walk must stop. Unit: bytes from the start of the source. */
  readonly end: number
  readonly work: Work
  /**
   * The contents of the window from `offset` on: at least `length` bytes, or every byte up to `end`. `undefined` when the
   * window must move first, or the walk should yield: `cursor.peek(at, 8) ?? (await cursor.load(at, 8))`.
   */
  peek(offset: number, length: number): Uint8Array | undefined
  /** Moves the window to `offset`, then returns what `peek` does. Fewer than `length` bytes only near `end`. */
  load(offset: number, length: number): Promise<Uint8Array>
}

interface CursorOptions {
  /** Default: the end of the source. */
  end?: number
  /**
   * Window size at the start and after each jump. A small window reads little when a walk skips over most of the data; it
   * doubles as long as the walk reads sequentially. Unit: bytes.
   */
  minWindow?: number
}

export function cursorOver(source: ByteSource, options: CursorOptions = {}): Cursor {
  const { end = source.size, minWindow = CHUNK_BYTES } = options
  const work = newWork()
  let start = 0
  let bytes: Uint8Array = new Uint8Array(0)
  let window = minWindow

  function fromWindow(offset: number, length: number): Uint8Array | undefined {
    const from = offset - start
    const readLength = Math.min(length, end - offset)
    if (from < 0 || from + readLength > bytes.length) return undefined
    return bytes.subarray(from)
  }

  return {
    end,
    work,
    peek(offset, length) {
      return work.spend(1) ? undefined : fromWindow(offset, length)
    },
    async load(offset, length) {
      if (work.spend(1)) await work.yield()
      const cached = fromWindow(offset, length)
      if (cached) return cached
      const isSequential = offset >= start && offset <= start + 2 * bytes.length
      window = isSequential && bytes.length > 0 ? Math.min(2 * window, CHUNK_BYTES) : minWindow
      const readLength = Math.min(Math.max(length, window), end - offset)
      if (readLength <= 0) return new Uint8Array(0)
      bytes = await source.read(offset, readLength)
      if (bytes.length > readLength) bytes = bytes.subarray(0, readLength)
      start = offset
      work.spendBytes(bytes.length)
      return bytes
    },
  }
}
