/**
 * Stores a preview after the end of its image, in the same file (docs/decisions/080). JPEG, PNG and WebP decoders stop at the
 * end of the image; AVIF readers skip free-space boxes (ISO 14496-12, 8.1.2), and the frame is one.
 *
 *     image | length of the frame (u32 BE) | "free" | preview | length of the frame (u32 BE) | "PINPREV1"
 */
import { FRAME_FOOT_BYTES, FRAME_HEAD_BYTES } from '../protocol.ts'

/** The names in the head and in the foot of the frame. */
export const FRAME_TYPE = 'free'
export const FRAME_MARK = 'PINPREV1'

/** The bytes before and after a preview of `previewBytes` bytes. */
export function previewFrame(previewBytes: number): {
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
