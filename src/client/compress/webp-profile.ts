/** ICC profiles in WebP: a chunk of the extended format (RFC 9649, section 2.7). */
import { concatBytes } from '../../bytes.ts'
import { validProfile } from '../../formats/metadata/icc.ts'
import { encodeChunk, le32, readChunk, u32le } from '../../formats/webp/chunks.ts'

const RIFF_HEADER_BYTES = 12
const CHUNK_HEADER_BYTES = 8
const HAS_ICC = 0x20
const HAS_ALPHA = 0x10

/**
 * Adds the profile, if any, to a WebP. `webp`: encoder output, i.e. a single VP8L chunk, or for lossy with alpha a VP8X chunk
 * and the chunks it announces.
 */
export function withWebpProfile(
  webp: Uint8Array<ArrayBuffer>,
  profile: Uint8Array | null,
  { width, height }: { width: number; height: number },
): Uint8Array<ArrayBuffer> {
  if (profile === null) return webp
  const header = webp.subarray(0, RIFF_HEADER_BYTES)
  const first = readChunk(webp.subarray(RIFF_HEADER_BYTES), RIFF_HEADER_BYTES, webp.length)
  const isExtended = first.type === 'VP8X'
  const image = webp.subarray(isExtended ? first.end : RIFF_HEADER_BYTES)
  const features = isExtended ? first.head.slice() : featuresOf(image, width, height)
  features[0]! |= HAS_ICC
  const out = concatBytes(header, encodeChunk('VP8X', features), encodeChunk('ICCP', profile), image)
  out.set(le32(out.length - 8), 4)
  return out
}

/** `null` if there is no valid profile. `webp` must be valid. */
export function webpProfileOf(webp: Uint8Array): Uint8Array | null {
  const end = Math.min(CHUNK_HEADER_BYTES + u32le(webp, 4), webp.length)
  for (let at = RIFF_HEADER_BYTES; at + CHUNK_HEADER_BYTES <= end; ) {
    const chunk = readChunk(webp.subarray(at), at, end)
    const start = at + CHUNK_HEADER_BYTES
    if (chunk.type === 'ICCP') return validProfile(webp.slice(start, start + chunk.length))
    at = chunk.end
  }
  return null
}

/** The VP8X features for a VP8L chunk. */
function featuresOf(image: Uint8Array, width: number, height: number): Uint8Array {
  // Signature byte, 14 bits of width, 14 bits of height, then the alpha_is_used bit.
  const hasAlpha = (image[12]! & 0x10) !== 0
  const features = new Uint8Array(10)
  features[0] = hasAlpha ? HAS_ALPHA : 0
  features.set(le32(width - 1).subarray(0, 3), 4)
  features.set(le32(height - 1).subarray(0, 3), 7)
  return features
}
