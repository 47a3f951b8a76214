/** A window over a source. A walk works inside it without waiting, and awaits only to move it. */
import { type ByteSource, WINDOW_BYTES } from '../image.ts'

export interface Cursor {
  /** Where the walk must stop. Unit: bytes from the start of the source. */
  readonly end: number
  /**
   * All that the window holds from `offset` on: at least `length` bytes, or every byte up to `end`.
   * `undefined` if the window must move first: `cursor.peek(at, 8) ?? (await cursor.load(at, 8))`.
   */
  peek(offset: number, length: number): Uint8Array | undefined
  /** Moves the window to `offset` and answers as `peek` does. Fewer than `length` bytes mean that `end` is near. */
  load(offset: number, length: number): Promise<Uint8Array>
}

/** Reads `source` up to `end`, which may lie before its end. */
export function cursorOver(source: ByteSource, end: number = source.size): Cursor {
  let start = 0
  let bytes: Uint8Array = new Uint8Array(0)
  return {
    end,
    peek(offset, length) {
      const from = offset - start
      const wanted = Math.min(length, end - offset)
      if (from < 0 || from + wanted > bytes.length) return undefined
      return bytes.subarray(from)
    },
    async load(offset, length) {
      const wanted = Math.min(Math.max(length, WINDOW_BYTES), end - offset)
      if (wanted <= 0) return new Uint8Array(0)
      bytes = await source.read(offset, wanted)
      if (bytes.length > wanted) bytes = bytes.subarray(0, wanted)
      start = offset
      return bytes
    },
  }
}
