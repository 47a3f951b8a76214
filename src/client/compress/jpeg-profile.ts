/** The ICC profile in a JPEG: APP2 segments that carry a share of it each (ICC.1:2022, annex B.4). */
import { joined } from '../../bytes.ts'
import { type ByteSource, sourceOf } from '../../formats/image.ts'
import { APP2, type JpegSegment, nameOfKind, segmentOf } from '../../formats/jpeg/segments.ts'
import { walkJpeg } from '../../formats/jpeg/walk.ts'

const SIGNATURE = nameOfKind('icc')
/** A segment holds 65,533 bytes: the signature, its own number, how many there are, and the share. */
const SHARE_BYTES = 65_533 - SIGNATURE.length - 2

/** Puts a profile, if there is one, into a JPEG that has none: behind SOI and a JFIF segment. `profile`: at most 16 MB. */
export function withJpegProfile(
  jpeg: Uint8Array<ArrayBuffer>,
  profile: Uint8Array | null,
): Uint8Array<ArrayBuffer> {
  if (profile === null) return jpeg
  const shares = Math.ceil(profile.length / SHARE_BYTES)
  if (shares > 255) throw new Error('the colour profile is too large for a JPEG')
  const at = jpeg[2] === 0xff && jpeg[3] === 0xe0 ? 4 + jpeg[4]! * 256 + jpeg[5]! : 2
  const segments = Array.from({ length: shares }, (_, number) => {
    const share = profile.subarray(number * SHARE_BYTES, (number + 1) * SHARE_BYTES)
    return segmentOf(APP2, joined(SIGNATURE, Uint8Array.of(number + 1, shares), share))
  })
  return joined(jpeg.subarray(0, at), ...segments, jpeg.subarray(at))
}

/** `null` if there is none, `broken` if shares are missing or contradict each other. */
export async function jpegProfileOf(
  source: ByteSource,
  segments: JpegSegment[],
): Promise<Uint8Array | null | 'broken'> {
  const shares = new Map<number, Uint8Array>()
  let expected = 0
  for (const { kind, offset, length, bodyAt } of segments) {
    if (kind !== 'icc') continue
    const body = await source.read(bodyAt, offset + length - bodyAt)
    if (body.length < SIGNATURE.length + 2) continue
    const [number = 0, total = 0] = body.subarray(SIGNATURE.length)
    expected ||= total
    if (number === 0 || number > total || total !== expected || shares.has(number)) return 'broken'
    shares.set(number, body.slice(SIGNATURE.length + 2))
  }
  if (shares.size === 0) return null
  if (shares.size !== expected) return 'broken'
  return joined(...[...shares].sort(([a], [b]) => a - b).map(([, share]) => share))
}

/** The same file without its profile. `jpeg`: sound. */
export async function withoutJpegProfile(jpeg: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const { segments } = await walkJpeg(sourceOf(jpeg))
  const kept = segments.filter(({ kind }) => kind !== 'icc')
  return joined(...kept.map(({ offset, length }) => jpeg.subarray(offset, offset + length)))
}
