/**
 * A preview behind the end of its image, in one file (docs/decisions/080). Decoders of JPEG, PNG and WebP stop at the image's
 * end; readers of AVIF pass over a free-space box (ISO 14496-12, 8.1.2), which the frame is.
 *
 *     image | length of the frame (u32 BE) | "free" | preview | length of the frame (u32 BE) | "PINPREV1"
 */
import { FRAME_FOOT_BYTES, FRAME_HEAD_BYTES, PREVIEW_MAX_BYTES } from '../protocol.ts'
import { latin1 } from './bytes/text.ts'
import { damaged } from './damaged.ts'
import type { ByteSource } from './image.ts'

const BOX_TYPE = 'free'
const MARK = 'PINPREV1'

/** What stands before and behind a preview of so many bytes. */
export function frameAround(previewBytes: number): {
  head: Uint8Array<ArrayBuffer>
  foot: Uint8Array<ArrayBuffer>
} {
  const length = FRAME_HEAD_BYTES + previewBytes + FRAME_FOOT_BYTES
  return { head: field(length, BOX_TYPE), foot: field(length, MARK) }
}

function field(length: number, name: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(4 + name.length)
  new DataView(bytes.buffer).setUint32(0, length)
  bytes.set(new TextEncoder().encode(name), 4)
  return bytes
}

/** A part of another source. */
interface Part extends ByteSource {
  /** Where it begins in the source. Unit: bytes. */
  readonly offset: number
}

/**
 * The image of a file, and the preview behind it. What is not exactly a frame is none: it counts as part of the image.
 * Throws `Refusal('damaged-image')` for a preview that is too long.
 */
export async function splitFrame(source: ByteSource): Promise<{ image: Part; preview: Part | null }> {
  const { size } = source
  const none = { image: partOf(source, 0, size), preview: null }
  const least = FRAME_HEAD_BYTES + FRAME_FOOT_BYTES
  if (size <= least) return none
  const foot = await source.read(size - FRAME_FOOT_BYTES, FRAME_FOOT_BYTES)
  if (nameIn(foot) !== MARK) return none
  const length = lengthIn(foot)
  if (length <= least || length >= size) return none
  const head = await source.read(size - length, FRAME_HEAD_BYTES)
  if (nameIn(head) !== BOX_TYPE || lengthIn(head) !== length) return none
  const previewBytes = length - least
  if (previewBytes > PREVIEW_MAX_BYTES) {
    throw damaged(`The preview has ${previewBytes} bytes; it may have at most ${PREVIEW_MAX_BYTES}.`)
  }
  return {
    image: partOf(source, 0, size - length),
    preview: partOf(source, size - length + FRAME_HEAD_BYTES, previewBytes),
  }
}

function nameIn(field: Uint8Array): string {
  return latin1(field.subarray(4))
}

function lengthIn(field: Uint8Array): number {
  return new DataView(field.buffer, field.byteOffset).getUint32(0)
}

function partOf(source: ByteSource, offset: number, size: number): Part {
  return {
    offset,
    size,
    read: (at, length) => source.read(offset + at, Math.max(0, Math.min(length, size - at))),
  }
}
