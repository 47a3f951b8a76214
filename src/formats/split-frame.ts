/** Finds the preview behind an image's end. */
import { FRAME_FOOT_BYTES, FRAME_HEAD_BYTES, PREVIEW_MAX_BYTES } from '../protocol.ts'
import { latin1 } from './bytes/text.ts'
import { damaged } from './damaged.ts'
import type { ByteSource } from './image.ts'
import { FRAME_MARK, FRAME_TYPE } from './preview-frame.ts'

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
  if (nameIn(foot) !== FRAME_MARK) return none
  const length = lengthIn(foot)
  if (length <= least || length >= size) return none
  const head = await source.read(size - length, FRAME_HEAD_BYTES)
  if (nameIn(head) !== FRAME_TYPE || lengthIn(head) !== length) return none
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
