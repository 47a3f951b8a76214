/** Finds the preview behind an image's end. */
import { FRAME_FOOT_BYTES, FRAME_HEAD_BYTES, PREVIEW_MAX_BYTES } from '../protocol.ts'
import { latin1 } from './bytes/text.ts'
import { damaged } from './damaged.ts'
import type { ByteSource } from './image.ts'
import { FRAME_MARK, FRAME_TYPE } from './preview-frame.ts'

export interface FramedPreview {
  /** Where it begins in the source. Unit: bytes. */
  offset: number
  bytes: Uint8Array
}

const LEAST_BYTES = FRAME_HEAD_BYTES + FRAME_FOOT_BYTES
const MOST_BYTES = LEAST_BYTES + PREVIEW_MAX_BYTES

/**
 * The image of a file, and the preview behind it. What is not exactly a frame is none: it counts as part of the image.
 * Throws `Refusal('damaged-image')` for a preview that is too long.
 */
export async function splitFrame(
  source: ByteSource,
): Promise<{ image: ByteSource; preview: FramedPreview | null }> {
  const { size } = source
  const none = { image: source, preview: null }
  if (size <= LEAST_BYTES) return none
  const foot = await source.read(size - FRAME_FOOT_BYTES, FRAME_FOOT_BYTES)
  if (nameIn(foot) !== FRAME_MARK) return none
  const length = lengthIn(foot)
  if (length <= LEAST_BYTES || length >= size) return none
  const offset = size - length
  // All of it at once: each read is a way to the disk and back.
  const frame = await source.read(offset, Math.min(length, MOST_BYTES))
  const head = frame.subarray(0, FRAME_HEAD_BYTES)
  if (nameIn(head) !== FRAME_TYPE || lengthIn(head) !== length) return none
  if (length > MOST_BYTES) {
    throw damaged(`The preview has ${length - LEAST_BYTES} bytes; it may have at most ${PREVIEW_MAX_BYTES}.`)
  }
  return {
    image: firstOf(source, offset),
    preview: {
      offset: offset + FRAME_HEAD_BYTES,
      bytes: frame.subarray(FRAME_HEAD_BYTES, -FRAME_FOOT_BYTES),
    },
  }
}

function nameIn(field: Uint8Array): string {
  return latin1(field.subarray(4))
}

function lengthIn(field: Uint8Array): number {
  return new DataView(field.buffer, field.byteOffset).getUint32(0)
}

/** The beginning of `source` as a source. */
function firstOf(source: ByteSource, size: number): ByteSource {
  return { size, read: (at, length) => source.read(at, Math.max(0, Math.min(length, size - at))) }
}
