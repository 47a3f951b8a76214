/** WebP (RFC 9649), still and animated: walked through every chunk of the RIFF, and what is private left out. */

import { joined } from '../../bytes.ts'
import { cursorOver } from '../bytes/cursor.ts'
import { keptRuns } from '../bytes/kept-runs.ts'
import { checkAnimation, checkDimensions, cutOff } from '../damaged.ts'
import { type ByteSource, type Inspector, lengthOf } from '../image.ts'
import {
  CHUNK_START_BYTES,
  damagedWebp,
  le32,
  readChunk,
  u32le,
  type Webp,
  type WebpChunk,
  webpPicture,
  wholeChunk,
  withPadding,
} from './chunks.ts'
import { walkExtended } from './extended.ts'

/** "RIFF", a length, "WEBP". Unit: bytes. */
const RIFF_BYTES = 12

export const inspectWebp: Inspector = async (source) => {
  const webp = await walkWebp(source)
  return {
    type: 'image/webp',
    // No browser turns a WebP as its Exif says (Chromium 153 does not either), so it is displayed as it is stored.
    width: webp.width,
    height: webp.height,
    animated: webp.frames > 1,
    hasLocation: webp.hasLocation,
    segments: webp.segments,
  }
}

/** Reads the whole file. Throws `Refusal('damaged-image')`. */
export async function walkWebp(source: ByteSource): Promise<Webp> {
  const riff = await source.read(0, RIFF_BYTES)
  if (riff.length < RIFF_BYTES) throw cutOff('WebP')
  const size = u32le(riff, 4)
  if (8 + size > source.size) throw cutOff('WebP')
  // A length that leaves out the padding of the last chunk is forgiven.
  const end = Math.min(8 + size + (size & 1), source.size)

  const cursor = cursorOver(source, { end })
  const start = await cursor.load(RIFF_BYTES, CHUNK_START_BYTES)
  const first = readChunk(start, RIFF_BYTES, end)
  const webp =
    first.type === 'VP8X' ? await walkExtended(cursor, first) : walkSimple(await withPadding(cursor, first))
  checkDimensions(webp.width, webp.height)
  checkAnimation(webp.width, webp.height, webp.frames)

  const kept = keptRuns()
  const bytes = lengthOf(webp.segments)
  if (RIFF_BYTES + bytes === end) kept.keep(0, RIFF_BYTES)
  else kept.put(joined(riff.subarray(0, 4), le32(RIFF_BYTES - 8 + bytes), riff.subarray(8, RIFF_BYTES)))
  kept.append(webp.segments)
  return { ...webp, segments: kept.segments }
}

/** A file of one picture and nothing else; what comes after it, decoders pass over. */
function walkSimple(chunk: WebpChunk): Webp {
  const picture = webpPicture()
  picture.add(chunk)
  const found = picture.size()
  if (!found) throw damagedWebp('it does not start with a VP8X, VP8 or VP8L chunk')
  const segments = wholeChunk(chunk)
  return { ...found, frames: 1, exif: { hasLocation: false }, hasLocation: false, segments }
}
