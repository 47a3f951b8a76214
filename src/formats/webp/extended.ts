/** The extended WebP file format (RFC 9649, 2.7): profile, animation, transparency, metadata. */
import type { Cursor } from '../bytes/cursor.ts'
import { joined, type KeptRuns, keptRuns, sameBytes } from '../bytes/kept-runs.ts'
import { latin1 } from '../bytes/text.ts'
import { type ExifFacts, minimalExif, readExif } from '../metadata/exif.ts'
import { MOST_METADATA_BYTES, namesPlaceInXmp } from '../metadata/xmp.ts'
import type { PictureSize } from './bitstream.ts'
import {
  CHUNK_START_BYTES,
  chunkOf,
  inconsistent,
  le32,
  readChunk,
  u24le,
  type Webp,
  type WebpChunk,
  webpPicture,
} from './chunks.ts'

const VP8X_BYTES = 10
const ANIM_BYTES = 6
const ANMF_HEADER_BYTES = 16

const ANMF = Uint8Array.of(0x41, 0x4e, 0x4d, 0x46)

/** Flags of VP8X. */
const HAS_EXIF = 0x08
const HAS_XMP = 0x04
const IS_ANIMATED = 0x02

/** Reads all chunks from VP8X on. */
export async function walkExtended(cursor: Cursor, vp8x: WebpChunk): Promise<Webp> {
  if (vp8x.length !== VP8X_BYTES) throw inconsistent('its header has a wrong length')
  const header = vp8x.head.slice()
  const flags = header[0]!
  const isAnimated = (flags & IS_ANIMATED) !== 0
  const canvas = { width: u24le(header, 4) + 1, height: u24le(header, 7) + 1 }

  const kept = keptRuns()
  const picture = webpPicture()
  let exif: ExifFacts | undefined
  let exifKept = false
  let hasXmp = false
  let xmpNamesPlace = false
  let hasProfile = false
  let hasControl = false
  let frames = 0

  for (let at = vp8x.end; at < cursor.end; ) {
    const start = cursor.peek(at, CHUNK_START_BYTES) ?? (await cursor.load(at, CHUNK_START_BYTES))
    const chunk = readChunk(start, at, cursor.end)
    at = chunk.end
    if (chunk.type === 'ICCP') {
      if (!hasProfile) kept.keep(chunk.at, chunk.end - chunk.at)
      hasProfile = true
    } else if (chunk.type === 'ANIM' && isAnimated && !hasControl) {
      if (chunk.length < ANIM_BYTES) throw inconsistent('its animation has no settings')
      hasControl = true
      kept.keep(chunk.at, chunk.end - chunk.at)
    } else if (chunk.type === 'ANMF') {
      if (!hasControl) throw inconsistent('a frame comes before its animation')
      await walkFrame(cursor, chunk, canvas, kept)
      frames++
    } else if (chunk.type === 'EXIF' && !exif && flags & HAS_EXIF) {
      const body = await metadata(cursor, chunk)
      exif = readExif(body)
      exifKept = keepExif(kept, chunk, body, exif)
    } else if (chunk.type === 'XMP ' && !hasXmp) {
      hasXmp = true
      xmpNamesPlace = namesPlaceInXmp(latin1(await metadata(cursor, chunk)))
    } else if (picture.add(chunk)) {
      if (isAnimated) throw inconsistent('a picture stands outside its animation')
      kept.keep(chunk.at, chunk.end - chunk.at)
    }
  }
  if (isAnimated ? frames === 0 : !sameSize(picture.size, canvas)) {
    throw inconsistent('a part of the picture is missing')
  }

  // A flag goes with its chunk; one that never had a chunk stays as it came.
  const gone = (hasXmp ? HAS_XMP : 0) | (exif && !exifKept ? HAS_EXIF : 0)
  const all = keptRuns()
  if ((flags & gone) === 0) all.keep(vp8x.at, vp8x.end - vp8x.at)
  else all.put(chunkOf('VP8X', header.with(0, flags & ~gone)))
  all.append(kept.segments)
  return {
    ...canvas,
    frames: isAnimated ? frames : 1,
    exif: exif ?? { hasLocation: false },
    hasLocation: xmpNamesPlace || (exif?.hasLocation ?? false),
    segments: all.segments,
  }
}

function sameSize(a: PictureSize | undefined, b: PictureSize): boolean {
  return a?.width === b.width && a.height === b.height
}

async function metadata(cursor: Cursor, { at, length }: WebpChunk): Promise<Uint8Array> {
  const wanted = Math.min(8 + length, MOST_METADATA_BYTES)
  return (cursor.peek(at, wanted) ?? (await cursor.load(at, wanted))).subarray(8, wanted)
}

/** `false` if nothing of it is worth keeping. */
function keepExif(kept: KeptRuns, chunk: WebpChunk, body: Uint8Array, exif: ExifFacts): boolean {
  const minimal = minimalExif(exif)
  if (!minimal) return false
  if (chunk.length === minimal.length && sameBytes(minimal, body)) kept.keep(chunk.at, chunk.end - chunk.at)
  else kept.put(chunkOf('EXIF', minimal))
  return true
}

/** One frame of an animation (RFC 9649, 2.7.1.1): its place, and the chunks of its picture. */
async function walkFrame(
  cursor: Cursor,
  frame: WebpChunk,
  canvas: PictureSize,
  kept: KeptRuns,
): Promise<void> {
  const { head } = frame
  if (frame.length < ANMF_HEADER_BYTES) throw inconsistent('a frame has no header')
  const size = { width: u24le(head, 6) + 1, height: u24le(head, 9) + 1 }
  if (u24le(head, 0) * 2 + size.width > canvas.width || u24le(head, 3) * 2 + size.height > canvas.height) {
    throw inconsistent('a frame lies outside its picture')
  }
  const place = head.slice(0, ANMF_HEADER_BYTES)
  const chunksAt = frame.at + 8 + ANMF_HEADER_BYTES
  const end = frame.at + 8 + frame.length
  const picture = webpPicture()
  const runs = keptRuns()
  let bytes = 0
  for (let at = chunksAt; at < end; ) {
    const start = cursor.peek(at, CHUNK_START_BYTES) ?? (await cursor.load(at, CHUNK_START_BYTES))
    const chunk = readChunk(start, at, end)
    at = chunk.end
    if (!picture.add(chunk)) continue
    runs.keep(chunk.at, chunk.end - chunk.at)
    bytes += chunk.end - chunk.at
  }
  if (!sameSize(picture.size, size)) throw inconsistent('a frame is not as large as it says')
  if (chunksAt + bytes === end) {
    kept.keep(frame.at, frame.end - frame.at)
    return
  }
  kept.put(joined(ANMF, le32(ANMF_HEADER_BYTES + bytes), place))
  kept.append(runs.segments)
}
