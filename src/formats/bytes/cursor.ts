/** A window over a source. A walk works inside it without waiting, and awaits only to move it or to let others run. */
import { type ByteSource, PIECE_BYTES } from '../image.ts'
import { newWork, type Work } from './work.ts'

export interface Cursor {
  /** Where the walk must stop. Unit: bytes from the start of the source. */
  readonly end: number
  readonly work: Work
  /**
   * All that the window holds from `offset` on: at least `length` bytes, or every byte up to `end`. `undefined` if the
   * window must move first, or if others shall run: `cursor.peek(at, 8) ?? (await cursor.load(at, 8))`.
   */
  peek(offset: number, length: number): Uint8Array | undefined
  /** Moves the window to `offset` and answers as `peek` does. Fewer than `length` bytes mean that `end` is near. */
  load(offset: number, length: number): Promise<Uint8Array>
}

interface CursorOptions {
  /** May lie before the end of the source. */
  end?: number
  work?: Work
  /**
   * The smallest window. Where a walk leaps over what it need not see, a small one reads little; it doubles while the
   * walk goes on not far behind it. Unit: bytes.
   */
  minWindow?: number
}

export function cursorOver(source: ByteSource, options: CursorOptions = {}): Cursor {
  const { end = source.size, work = newWork(), minWindow = PIECE_BYTES } = options
  let start = 0
  let bytes: Uint8Array = new Uint8Array(0)
  let window = minWindow

  function held(offset: number, length: number): Uint8Array | undefined {
    const from = offset - start
    const wanted = Math.min(length, end - offset)
    if (from < 0 || from + wanted > bytes.length) return undefined
    return bytes.subarray(from)
  }

  return {
    end,
    work,
    peek(offset, length) {
      return work.spend(1) ? undefined : held(offset, length)
    },
    async load(offset, length) {
      if (work.spend(1)) await work.turn()
      const already = held(offset, length)
      if (already) return already
      const isNext = offset >= start && offset <= start + 2 * bytes.length
      window = isNext && bytes.length > 0 ? Math.min(2 * window, PIECE_BYTES) : minWindow
      const wanted = Math.min(Math.max(length, window), end - offset)
      if (wanted <= 0) return new Uint8Array(0)
      bytes = await source.read(offset, wanted)
      if (bytes.length > wanted) bytes = bytes.subarray(0, wanted)
      start = offset
      work.spendBytes(bytes.length)
      return bytes
    },
  }
}
