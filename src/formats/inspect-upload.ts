/** What a client sends as one file: an image, and a preview of it in a frame behind its end. */
import { Refusal } from '../errors.ts'
import {
  FRAME_FOOT_BYTES,
  FRAME_HEAD_BYTES,
  PREVIEW_MAX_BYTES,
  PREVIEW_MAX_SIDE_PIXELS,
  PREVIEW_TYPES,
  type PreviewType,
} from '../protocol.ts'
import { keptRuns } from './bytes/kept-runs.ts'
import { latin1 } from './bytes/text.ts'
import { damaged } from './damaged.ts'
import { type ByteSource, type Inspection, isWhole, lengthOf, type Segment, sourceOf } from './image.ts'
import { inspect } from './inspect.ts'
import { FRAME_MARK, FRAME_TYPE, frameAround } from './preview-frame.ts'

export interface InspectedUpload {
  /** Its segments are those of the image alone. */
  image: Inspection
  /** `null` if none came along. Its segments are literal bytes: it is in memory. */
  preview: (Inspection & { type: PreviewType }) | null
  /** All that is to be stored: the image, and its preview in its frame. */
  segments: Segment[]
}

/** A side of a preview is rounded to whole pixels, and a coder may crop a few. */
const MAX_DEVIATION = 0.02

/**
 * As `inspect`, of both. The preview is read like any file of a stranger. Throws `Refusal`: `damaged-image` also for a
 * preview that is damaged, too large, animated, of another type or of another aspect ratio than its image.
 */
export async function inspectUpload(
  source: ByteSource,
  options?: { strip?: boolean },
): Promise<InspectedUpload> {
  const parts = await splitFrame(source)
  const image = await inspect(parts.image, options)
  // GIF is stored byte for byte, whatever stands behind it.
  if (image.type === 'image/gif') {
    const whole = parts.preview === null ? image : await inspect(source, options)
    return { image: whole, preview: null, segments: whole.segments }
  }
  if (parts.preview === null) return { image, preview: null, segments: image.segments }
  const { offset, bytes } = parts.preview
  const preview = await inspectPreview(sourceOf(bytes), image, options)
  const { segments } = preview
  const previewBytes = lengthOf(segments)
  const { head, foot } = frameAround(previewBytes)
  const stored = keptRuns()
  stored.append(image.segments)
  if (isWhole(segments, bytes.length))
    stored.keep(offset - head.length, head.length + previewBytes + foot.length)
  else stored.append([head, ...segments.map((segment) => moved(segment, offset)), foot])
  const kept = segments.map((segment) =>
    segment instanceof Uint8Array ? segment : bytes.subarray(segment.offset, segment.offset + segment.length),
  )
  return { image, preview: { ...preview, segments: kept }, segments: stored.segments }
}

async function inspectPreview(
  source: ByteSource,
  image: Inspection,
  options: { strip?: boolean } | undefined,
): Promise<Inspection & { type: PreviewType }> {
  const preview = await inspect(source, options).catch((error) => {
    if (error instanceof Refusal) throw damaged(`The preview cannot be taken. ${error.message}`)
    throw error
  })
  const { type, width, height } = preview
  if (!isPreviewType(type)) throw damaged('The preview is neither a JPEG nor a WebP image.')
  if (preview.animated) throw damaged('The preview is animated.')
  if (Math.max(width, height) > PREVIEW_MAX_SIDE_PIXELS) {
    throw damaged(
      `The preview is ${width} by ${height} pixels; a side may have at most ${PREVIEW_MAX_SIDE_PIXELS}.`,
    )
  }
  if (!isOfRatio(preview, image)) throw damaged('The preview has another aspect ratio than its image.')
  return { ...preview, type }
}

function isPreviewType(type: string): type is PreviewType {
  return PREVIEW_TYPES.includes(type as PreviewType)
}

type Size = Pick<Inspection, 'width' | 'height'>

/** Within 2 %, or a pixel. */
function isOfRatio(preview: Size, image: Size): boolean {
  const height = (preview.width * image.height) / image.width
  const width = (preview.height * image.width) / image.height
  return isNear(preview.height, height) || isNear(preview.width, width)
}

function isNear(side: number, expected: number): boolean {
  return Math.abs(side - expected) <= Math.max(1, expected * MAX_DEVIATION)
}

function moved(segment: Segment, by: number): Segment {
  return segment instanceof Uint8Array ? segment : { offset: segment.offset + by, length: segment.length }
}

interface FramedPreview {
  /** Where it begins in the source. Unit: bytes. */
  offset: number
  bytes: Uint8Array
}

const MIN_BYTES = FRAME_HEAD_BYTES + FRAME_FOOT_BYTES
const MAX_BYTES = MIN_BYTES + PREVIEW_MAX_BYTES

/**
 * The image of a file, and the preview behind it. What is not exactly a frame is none: it counts as part of the image.
 * Throws `Refusal('damaged-image')` for a preview that is too long.
 */
export async function splitFrame(
  source: ByteSource,
): Promise<{ image: ByteSource; preview: FramedPreview | null }> {
  const { size } = source
  const none = { image: source, preview: null }
  if (size <= MIN_BYTES) return none
  const foot = await source.read(size - FRAME_FOOT_BYTES, FRAME_FOOT_BYTES)
  if (nameIn(foot) !== FRAME_MARK) return none
  const length = lengthIn(foot)
  if (length <= MIN_BYTES || length >= size) return none
  const offset = size - length
  // All of it at once: each read is a way to the disk and back.
  const frame = await source.read(offset, Math.min(length, MAX_BYTES))
  const head = frame.subarray(0, FRAME_HEAD_BYTES)
  if (nameIn(head) !== FRAME_TYPE || lengthIn(head) !== length) return none
  if (length > MAX_BYTES) {
    throw damaged(`The preview has ${length - MIN_BYTES} bytes; it may have at most ${PREVIEW_MAX_BYTES}.`)
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
