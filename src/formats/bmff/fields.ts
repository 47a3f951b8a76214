/** Bounds-checked reading of boxes of the ISO base media file format (ISO/IEC 14496-12), and of their fields. */
import { latin1 } from '../bytes/text.ts'
import { damaged } from '../damaged.ts'

/** Limit per parent. Real files have a few dozen boxes per parent; an item list has one per item. */
export const MAX_BOXES_PER_PARENT = 16_384

/** Limit per buffer, counting a box each time it is read. */
const MAX_BOXES = 2 ** 17

/** Longer texts are truncated: only type names matter, and thousands of items may share one text. Unit: bytes. */
const MAX_TEXT_BYTES = 256

/** A byte range of the file, `end` exclusive. Unit: bytes from the start of the file. */
export interface Run {
  readonly start: number
  readonly end: number
}

/** A box. Its header starts at `start`, its contents at `body`. */
export interface Box extends Run {
  readonly type: string
  readonly body: number
  /** It has a 64-bit size, after the type. */
  readonly large: boolean
}

/** Throws `Refusal('damaged-image')`. `reason`: completes the sentence "The AVIF file is damaged: …". */
export function refuse(reason: string): never {
  throw damaged(`The AVIF file is damaged: ${reason}.`)
}

/**
 * Parses a box header. `null` when `header` is too short. A size of 0 means that the box extends to `openEnd`
 * (14496-12, 4.2). `end` is not validated: see `fits`.
 */
export function boxFrom(header: Uint8Array, start: number, openEnd: number): Box | null {
  if (header.length < 8) return null
  const view = new DataView(header.buffer, header.byteOffset, header.length)
  const type = String.fromCharCode(...header.subarray(4, 8))
  const size = view.getUint32(0)
  if (size !== 1) {
    return { type, start, body: start + 8, end: size === 0 ? openEnd : start + size, large: false }
  }
  if (header.length < 16) return null
  return { type, start, body: start + 16, end: start + Number(view.getBigUint64(8)), large: true }
}

/** True if the box is at least as long as its header and ends within `limit`. */
export function fits(box: Box, limit: number): boolean {
  return box.end >= box.body && box.end <= limit
}

/** Reads big-endian fields from a buffer that holds a part of the file. All positions are file offsets. */
export class Fields {
  at: number
  readonly end: number
  private readonly bytes: Uint8Array
  private readonly view: DataView
  private readonly base: number
  /** Shared by all `Fields` of the same buffer. */
  private readonly budget: { boxes: number }

  /** `base`: file offset of `bytes`. */
  constructor(
    bytes: Uint8Array,
    base: number,
    start = base,
    end = base + bytes.length,
    budget = { boxes: MAX_BOXES },
  ) {
    this.budget = budget
    this.bytes = bytes
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    this.base = base
    this.at = start
    this.end = end
  }

  get left(): number {
    return this.end - this.at
  }

  /** A reader for the range from `start` to `end`, which must lie within this one. */
  within(start: number, end: number): Fields {
    if (start < this.base || end > this.end || start > end) refuse('a box ends before its last field')
    return new Fields(this.bytes, this.base, start, end, this.budget)
  }

  bodyOf(box: Box): Fields {
    return this.within(box.body, box.end)
  }

  skip(length: number): void {
    this.advance(length)
  }

  u8(): number {
    return this.view.getUint8(this.advance(1))
  }

  u16(): number {
    return this.view.getUint16(this.advance(2))
  }

  u32(): number {
    return this.view.getUint32(this.advance(4))
  }

  /** Inexact beyond 2^53, which exceeds any file size anyway. */
  u64(): number {
    return Number(this.view.getBigUint64(this.advance(8)))
  }

  /** A field of variable width. `width`: 0, 2, 4 or 8 bytes; a field of zero width is 0. */
  uint(width: number): number {
    if (width === 0) return 0
    if (width === 2) return this.u16()
    if (width === 4) return this.u32()
    if (width === 8) return this.u64()
    return refuse('iloc names a field width that does not exist')
  }

  /** A four-character code. */
  code(): string {
    return String.fromCharCode(...this.take(4))
  }

  /** Text up to a zero byte, which is consumed, or up to the end. Truncated to `MAX_TEXT_BYTES`. */
  text(): string {
    const rest = this.bytes.subarray(this.at - this.base, this.end - this.base)
    const zero = rest.indexOf(0)
    const length = zero < 0 ? rest.length : zero
    this.at += zero < 0 ? length : length + 1
    return latin1(rest.subarray(0, Math.min(length, MAX_TEXT_BYTES)))
  }

  take(length: number): Uint8Array {
    const from = this.advance(length)
    return this.bytes.subarray(from, from + length)
  }

  /** All remaining bytes. */
  rest(): Uint8Array {
    return this.take(this.left)
  }

  /** Version and flags of a full box (14496-12, 4.2). */
  versionAndFlags(): { version: number; flags: number } {
    const word = this.u32()
    return { version: word >>> 24, flags: word & 0xff_ffff }
  }

  /** The remaining boxes. Up to seven zero bytes may follow the last box, as written by QuickTime. */
  boxes(): Box[] {
    const boxes: Box[] = []
    while (this.left > 0) {
      if (this.left < 8 && isZero(this.take(this.left))) break
      if (boxes.length === MAX_BOXES_PER_PARENT || --this.budget.boxes < 0) refuse('it holds too many boxes')
      const from = this.at - this.base
      const header = this.bytes.subarray(from, Math.min(from + 16, this.end - this.base))
      const box = boxFrom(header, this.at, 0)
      if (!box || !fits(box, this.end)) refuse('a box is larger than the one around it')
      boxes.push(box)
      this.at = box.end
    }
    return boxes
  }

  private advance(length: number): number {
    const from = this.at - this.base
    if (length > this.left) refuse('a box ends before its last field')
    this.at += length
    return from
  }
}

export function isZero(bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length; at++) if (bytes[at] !== 0) return false
  return true
}
