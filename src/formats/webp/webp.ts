/** WebP (RFC 9649), still and animated: walks every chunk of the RIFF and strips private metadata. */
import { concatBytes } from '../../bytes.ts'
import { type Cursor, cursorOver } from '../bytes/cursor.ts'
import { type KeptRuns, keptRuns, sameBytes } from '../bytes/kept-runs.ts'
import { latin1 } from '../bytes/text.ts'
import { checkAnimation, checkDimensions, cutOff } from '../damaged.ts'
import { type Inspector, lengthOf, type Segment } from '../image.ts'
import { minimalExif, readExif } from '../metadata/exif.ts'
import { editedSegment, ICC_START_BYTES, readProfile } from '../metadata/icc.ts'
import { MAX_METADATA_BYTES, xmpHasLocation } from '../metadata/xmp.ts'
import {
  CHUNK_START_BYTES,
  checkPadding,
  damagedWebp,
  encodeChunk,
  firstBytes,
  le32,
  type PictureSize,
  readChunk,
  u24le,
  u32le,
  type WebpChunk,
  webpPicture,
  wholeChunk,
} from './chunks.ts'

/** "RIFF", length, "WEBP". Unit: bytes. */
const RIFF_BYTES = 12

/** The result of reading all chunks. */
interface Webp extends PictureSize {
  frames: number
  hasLocation: boolean
  segments: Segment[]
}

export const inspectWebp: Inspector = async (source) => {
  const riff = await source.read(0, RIFF_BYTES)
  if (riff.length < RIFF_BYTES) throw cutOff('WebP')
  const size = u32le(riff, 4)
  if (8 + size > source.size) throw cutOff('WebP')
  // Tolerate a length that excludes the padding of the last chunk.
  const end = Math.min(8 + size + (size & 1), source.size)

  const cursor = cursorOver(source, { end })
  const start = await cursor.load(RIFF_BYTES, CHUNK_START_BYTES)
  const first = readChunk(start, RIFF_BYTES, end)
  const webp =
    first.type === 'VP8X' ? await walkExtended(cursor, first) : walkSimple(await checkPadding(cursor, first))
  checkDimensions(webp.width, webp.height)
  checkAnimation(webp.width, webp.height, webp.frames)

  const kept = keptRuns()
  const bytes = lengthOf(webp.segments)
  if (RIFF_BYTES + bytes === end) kept.keep(0, RIFF_BYTES)
  else kept.put(concatBytes(riff.subarray(0, 4), le32(RIFF_BYTES - 8 + bytes), riff.subarray(8, RIFF_BYTES)))
  kept.append(webp.segments)
  return {
    type: 'image/webp',
    // Stored and displayed size are equal: no browser applies the Exif orientation of a WebP (as of Chromium 153).
    width: webp.width,
    height: webp.height,
    animated: webp.frames > 1,
    hasLocation: webp.hasLocation,
    segments: kept.segments,
  }
}

/** The simple file format: a single image chunk. Decoders ignore everything after it. */
function walkSimple(chunk: WebpChunk): Webp {
  const picture = webpPicture()
  picture.add(chunk)
  const found = picture.size()
  if (!found) throw damagedWebp('it does not start with a VP8X, VP8 or VP8L chunk')
  return { ...found, frames: 1, hasLocation: false, segments: wholeChunk(chunk) }
}

const VP8X_BYTES = 10
const ANIM_BYTES = 6
const ANMF_HEADER_BYTES = 16

const ANMF = Uint8Array.of(0x41, 0x4e, 0x4d, 0x46)

/** Limit per file, including chunks in frames. A frame has two or three; an attacker could send millions of empty ones. */
const MAX_CHUNKS = 2 ** 18

/** Blending and disposal. The other bits of the byte are reserved. */
const KNOWN_FRAME_FLAGS = 0x03

/** Flags of VP8X. The other bits of its first word are reserved. */
const HAS_PROFILE = 0x20
const HAS_ALPHA = 0x10
const HAS_EXIF = 0x08
const HAS_XMP = 0x04
const IS_ANIMATED = 0x02
const KNOWN_FLAGS = HAS_PROFILE | HAS_ALPHA | HAS_EXIF | HAS_XMP | IS_ANIMATED

/** Walks the extended file format (2.7), starting at VP8X: profile, animation, transparency, metadata. */
async function walkExtended(cursor: Cursor, vp8x: WebpChunk): Promise<Webp> {
  if (vp8x.length !== VP8X_BYTES) throw damagedWebp(`VP8X has ${vp8x.length} bytes instead of ${VP8X_BYTES}`)
  const header = vp8x.head.slice()
  const flags = header[0] ?? 0
  const isAnimated = (flags & IS_ANIMATED) !== 0
  const canvas = { width: u24le(header, 4) + 1, height: u24le(header, 7) + 1 }

  const kept = keptRuns()
  const picture = webpPicture(canvas)
  const seen = new Set<string>()
  /** Flags to clear because their chunks are removed. */
  let clearedFlags = 0
  let hasLocation = false
  let frames = 0
  let chunks = 0
  // Across the whole file: a limit per frame would not bound their number.
  const countChunk = () => {
    if (++chunks > MAX_CHUNKS) throw damagedWebp(`it has more than ${MAX_CHUNKS} chunks`)
  }

  for (let at = vp8x.end; at < cursor.end; ) {
    countChunk()
    const start = cursor.peek(at, CHUNK_START_BYTES) ?? (await cursor.load(at, CHUNK_START_BYTES))
    const chunk = readChunk(start, at, cursor.end)
    const { type } = chunk
    at = chunk.end
    if (type === 'ANMF') {
      if (!seen.has('ANIM')) throw damagedWebp('a frame comes before the ANIM chunk')
      // Viewers ignore frames when the animation flag is not set.
      if (isAnimated) await walkFrame(cursor, chunk, canvas, kept, countChunk)
      frames++
    } else if (type === 'ICCP' || type === 'EXIF' || type === 'XMP ' || type === 'ANIM') {
      if (seen.has(type)) continue
      seen.add(type)
      if (type === 'ICCP') {
        const profile =
          flags & HAS_PROFILE ? await keptProfile(cursor, await checkPadding(cursor, chunk)) : []
        if (profile.length === 0) clearedFlags |= HAS_PROFILE
        kept.append(profile)
      } else if (type === 'ANIM' && isAnimated) {
        if (chunk.length < ANIM_BYTES) throw damagedWebp('its ANIM chunk is too short')
        kept.append(firstBytes(chunk, ANIM_BYTES))
      } else if (type === 'EXIF' && flags & HAS_EXIF) {
        const body = await metadata(cursor, chunk)
        const exif = readExif(body)
        hasLocation ||= exif.hasLocation
        const minimal = minimalExif(exif)
        if (!minimal) clearedFlags |= HAS_EXIF
        else if (chunk.length === minimal.length && sameBytes(minimal, body)) kept.append(wholeChunk(chunk))
        else kept.put(encodeChunk('EXIF', minimal))
      } else if (type === 'XMP ') {
        clearedFlags |= HAS_XMP
        const packet = latin1(await metadata(cursor, chunk))
        hasLocation ||= xmpHasLocation(packet)
      }
    } else {
      const parts = picture.add(await checkPadding(cursor, chunk))
      if (!parts) continue
      if (isAnimated) throw damagedWebp(`a ${type.trim()} chunk lies outside the frames of the animation`)
      // Alpha that VP8X does not declare is not displayed.
      if (type !== 'ALPH' || flags & HAS_ALPHA) kept.append(parts)
    }
  }
  if (isAnimated && frames === 0) throw damagedWebp('its frames are missing')
  if (!isAnimated && !sameSize(picture.size(), canvas))
    throw damagedWebp('the size of its picture does not match VP8X')

  // Clear the flags of removed chunks only: a flag that never had a chunk stays.
  const newHeader = header.fill(0, 1, 4).with(0, flags & KNOWN_FLAGS & ~clearedFlags)
  const start = sameBytes(newHeader, vp8x.head) ? wholeChunk(vp8x) : [encodeChunk('VP8X', newHeader)]
  return {
    ...canvas,
    frames: isAnimated ? frames : 1,
    hasLocation,
    segments: [...start, ...kept.segments],
  }
}

/** Empty when the profile is invalid: decoders ignore it. */
async function keptProfile(cursor: Cursor, chunk: WebpChunk): Promise<Segment[]> {
  const wanted = 8 + Math.min(chunk.length, ICC_START_BYTES)
  const start = (cursor.peek(chunk.at, wanted) ?? (await cursor.load(chunk.at, wanted))).subarray(8, wanted)
  const profile = readProfile(start, chunk.length)
  if (!profile) return []
  return firstBytes(chunk, profile.length).flatMap((part) => editedSegment(part, chunk.at + 8, profile))
}

function sameSize(a: PictureSize | undefined, b: PictureSize): boolean {
  return a?.width === b.width && a.height === b.height
}

async function metadata(cursor: Cursor, { at, length }: WebpChunk): Promise<Uint8Array> {
  const wanted = Math.min(8 + length, MAX_METADATA_BYTES)
  return (cursor.peek(at, wanted) ?? (await cursor.load(at, wanted))).subarray(8, wanted)
}

/** Walks one frame of an animation (RFC 9649, 2.7.1.1): its header, and the chunks of its image. */
async function walkFrame(
  cursor: Cursor,
  frame: WebpChunk,
  canvas: PictureSize,
  kept: KeptRuns,
  countChunk: () => void,
): Promise<void> {
  const { head } = frame
  if (frame.length < ANMF_HEADER_BYTES) throw damagedWebp('an ANMF chunk is too short')
  const size = { width: u24le(head, 6) + 1, height: u24le(head, 9) + 1 }
  if (u24le(head, 0) * 2 + size.width > canvas.width || u24le(head, 3) * 2 + size.height > canvas.height) {
    throw damagedWebp('a frame lies outside the canvas')
  }
  const frameHeader = head.slice(0, ANMF_HEADER_BYTES)
  frameHeader[15] = (frameHeader[15] ?? 0) & KNOWN_FRAME_FLAGS
  const chunksAt = frame.at + 8 + ANMF_HEADER_BYTES
  const end = frame.at + 8 + frame.length
  const picture = webpPicture(size)
  const segments: Segment[] = []
  for (let at = chunksAt; at < end; ) {
    countChunk()
    const start = cursor.peek(at, CHUNK_START_BYTES) ?? (await cursor.load(at, CHUNK_START_BYTES))
    const chunk = readChunk(start, at, end)
    at = chunk.end
    segments.push(...(picture.add(await checkPadding(cursor, chunk)) ?? []))
  }
  const bytes = lengthOf(segments)
  if (!sameSize(picture.size(), size)) throw damagedWebp('the size of a frame does not match its ANMF chunk')
  if (chunksAt + bytes === end && sameBytes(frameHeader, head.subarray(0, ANMF_HEADER_BYTES))) {
    kept.keep(frame.at, chunksAt - frame.at)
  } else {
    kept.put(concatBytes(ANMF, le32(ANMF_HEADER_BYTES + bytes), frameHeader))
  }
  kept.append(segments)
  // If the last chunk has an odd length and no padding, the frame itself is padded.
  if (frame.end === end || (bytes & 1) === 0) return
  if ((await checkPadding(cursor, frame)).hasNonZeroPadding) kept.put(new Uint8Array(1))
  else kept.keep(end, 1)
}
