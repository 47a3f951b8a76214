/**
 * A preview behind the end of its image, in one file (docs/decisions/080). Decoders of JPEG, PNG and WebP stop at the image's
 * end; readers of AVIF pass over a free-space box (ISO 14496-12, 8.1.2), which the frame is.
 *
 *     image | length of the frame (u32 BE) | "free" | preview | length of the frame (u32 BE) | "PINPREV1"
 */
import { FRAME_FOOT_BYTES, FRAME_HEAD_BYTES } from '../protocol.ts'

/** The name in its head, and the one in its foot. */
export const FRAME_TYPE = 'free'
export const FRAME_MARK = 'PINPREV1'

/** What stands before and behind a preview of so many bytes. */
export function frameAround(previewBytes: number): {
  head: Uint8Array<ArrayBuffer>
  foot: Uint8Array<ArrayBuffer>
} {
  const length = FRAME_HEAD_BYTES + previewBytes + FRAME_FOOT_BYTES
  return { head: field(length, FRAME_TYPE), foot: field(length, FRAME_MARK) }
}

function field(length: number, name: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(4 + name.length)
  new DataView(bytes.buffer).setUint32(0, length)
  bytes.set(new TextEncoder().encode(name), 4)
  return bytes
}
