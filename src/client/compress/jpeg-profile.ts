/** ICC profiles in JPEG, split into chunks across APP2 segments (ICC.1:2022, annex B.4). */
import { concatBytes } from '../../bytes.ts'
import type { ByteSource } from '../../formats/image.ts'
import { orderedIccChunks } from '../../formats/jpeg/scrub.ts'
import {
  APP2,
  encodeSegment,
  ICC_CHUNK_HEADER_BYTES,
  identifierOf,
  type JpegSegment,
} from '../../formats/jpeg/segments.ts'
import { validProfile } from '../../formats/metadata/icc.ts'

const SIGNATURE = identifierOf('icc')
/** A segment holds up to 65,533 bytes. */
const ICC_CHUNK_BYTES = 65_533 - ICC_CHUNK_HEADER_BYTES

/** Adds the profile, if any, to a JPEG that has none, after SOI and JFIF. Throws if the profile is larger than 16 MB. */
export function withJpegProfile(
  jpeg: Uint8Array<ArrayBuffer>,
  profile: Uint8Array | null,
): Uint8Array<ArrayBuffer> {
  if (profile === null) return jpeg
  const chunks = Math.ceil(profile.length / ICC_CHUNK_BYTES)
  if (chunks > 255) throw new Error('the colour profile is too large for a JPEG')
  const at = jpeg[2] === 0xff && jpeg[3] === 0xe0 ? 4 + jpeg[4]! * 256 + jpeg[5]! : 2
  const segments = Array.from({ length: chunks }, (_, index) => {
    const chunk = profile.subarray(index * ICC_CHUNK_BYTES, (index + 1) * ICC_CHUNK_BYTES)
    return encodeSegment(APP2, concatBytes(SIGNATURE, Uint8Array.of(index + 1, chunks), chunk))
  })
  return concatBytes(jpeg.subarray(0, at), ...segments, jpeg.subarray(at))
}

/** `null` if there is none, `broken` if chunks are missing or inconsistent, or decoders would reject it. */
export async function jpegProfileOf(
  source: ByteSource,
  segments: JpegSegment[],
): Promise<Uint8Array | null | 'broken'> {
  const own = segments.filter(({ kind }) => kind === 'icc')
  if (own.length === 0) return null
  const parts: Uint8Array[] = []
  for (const { segment, length } of orderedIccChunks(own))
    parts.push(await source.read(segment.bodyAt + ICC_CHUNK_HEADER_BYTES, length))
  return validProfile(concatBytes(...parts)) ?? 'broken'
}
