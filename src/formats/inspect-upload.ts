/** Inspects an upload: an image, optionally followed by its preview in a frame. */
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
import {
  type ByteSource,
  type Inspection,
  isWhole,
  lengthOf,
  memorySource,
  type Segment,
  wholeFile,
} from './image.ts'
import { inspect } from './inspect.ts'
import { FRAME_MARK, FRAME_TYPE, previewFrame } from './preview-frame.ts'

export interface InspectedUpload {
  /** Its segments are those of the image alone. */
  image: Inspection
  /** `null` when the upload has no preview. Its segments are literal bytes: the preview is in memory. */
  preview: (Inspection & { type: PreviewType }) | null
  /** Everything to store: the image, then the framed preview. */
  segments: Segment[]
}

/** Tolerance for the aspect ratio: a preview's sides are rounded to whole pixels, and an encoder may crop a few. */
const MAX_DEVIATION = 0.02

/**
 * Inspects the image and its preview; the preview is untrusted input too. Throws `Refusal` as `inspect` does, and
 * `damaged-image` for a preview that is damaged, too large, animated, or whose type or aspect ratio is wrong.
 */
export async function inspectUpload(
  source: ByteSource,
  options?: { strip?: boolean },
): Promise<InspectedUpload> {
  const parts = await splitFrame(source)
  const image = await inspect(parts.image, options)
  // A GIF is stored byte for byte, including anything after its trailer.
  if (image.type === 'image/gif') {
    const segments = wholeFile(source)
    return { image: { ...image, segments }, preview: null, segments }
  }
  if (parts.preview === null) return { image, preview: null, segments: image.segments }
  const { offset, bytes } = parts.preview
  const preview = await inspectPreview(memorySource(bytes), image, options)
  const { segments } = preview
  const previewBytes = lengthOf(segments)
  const { head, foot } = previewFrame(previewBytes)
  const stored = keptRuns()
  stored.append(image.segments)
  if (isWhole(segments, bytes.length))
    stored.keep(offset - head.length, head.length + previewBytes + foot.length)
  else stored.append([head, ...segments.map((segment) => shifted(segment, offset)), foot])
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
    if (error instanceof Refusal) throw damaged(`The preview was rejected. ${error.message}`)
    throw error
  })
  const { type, width, height } = preview
  if (!isPreviewType(type)) throw damaged('The preview is neither a JPEG nor a WebP image.')
  if (preview.animated) throw damaged('The preview is animated.')
  if (Math.max(width, height) > PREVIEW_MAX_SIDE_PIXELS) {
    throw damaged(
      `The preview is ${width} by ${height} pixels; the limit is ${PREVIEW_MAX_SIDE_PIXELS} per side.`,
    )
  }
  if (!hasSameRatio(preview, image))
    throw damaged('The aspect ratio of the preview differs from that of the image.')
  return { ...preview, type }
}

function isPreviewType(type: string): type is PreviewType {
  return PREVIEW_TYPES.includes(type as PreviewType)
}

type Size = Pick<Inspection, 'width' | 'height'>

/** Within 2 %, or one pixel. */
function hasSameRatio(preview: Size, image: Size): boolean {
  const height = (preview.width * image.height) / image.width
  const width = (preview.height * image.width) / image.height
  return isNear(preview.height, height) || isNear(preview.width, width)
}

function isNear(side: number, expected: number): boolean {
  return Math.abs(side - expected) <= Math.max(1, expected * MAX_DEVIATION)
}

function shifted(segment: Segment, by: number): Segment {
  return segment instanceof Uint8Array ? segment : { offset: segment.offset + by, length: segment.length }
}

interface FramedPreview {
  /** Offset of the preview in the source. Unit: bytes. */
  offset: number
  bytes: Uint8Array
}

const FRAME_OVERHEAD_BYTES = FRAME_HEAD_BYTES + FRAME_FOOT_BYTES
const MAX_FRAME_BYTES = FRAME_OVERHEAD_BYTES + PREVIEW_MAX_BYTES

/**
 * Splits a file into the image and the preview that follows it. Anything that is not a well-formed frame counts as part of
 * the image. Throws `Refusal('damaged-image')` when the preview is too long.
 */
export async function splitFrame(
  source: ByteSource,
): Promise<{ image: ByteSource; preview: FramedPreview | null }> {
  const { size } = source
  const noPreview = { image: source, preview: null }
  if (size <= FRAME_OVERHEAD_BYTES) return noPreview
  const foot = await source.read(size - FRAME_FOOT_BYTES, FRAME_FOOT_BYTES)
  if (nameIn(foot) !== FRAME_MARK) return noPreview
  const length = lengthIn(foot)
  if (length <= FRAME_OVERHEAD_BYTES || length >= size) return noPreview
  const offset = size - length
  // One read for the whole frame: each read is a round trip to the disk.
  const frame = await source.read(offset, Math.min(length, MAX_FRAME_BYTES))
  const head = frame.subarray(0, FRAME_HEAD_BYTES)
  if (nameIn(head) !== FRAME_TYPE || lengthIn(head) !== length) return noPreview
  if (length > MAX_FRAME_BYTES) {
    throw damaged(
      `The preview has ${length - FRAME_OVERHEAD_BYTES} bytes; the limit is ${PREVIEW_MAX_BYTES}.`,
    )
  }
  return {
    image: prefixOf(source, offset),
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

/** The first `size` bytes of `source`. */
function prefixOf(source: ByteSource, size: number): ByteSource {
  return { size, read: (at, length) => source.read(at, Math.max(0, Math.min(length, size - at))) }
}
