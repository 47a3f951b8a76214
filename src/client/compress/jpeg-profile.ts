/** The ICC profile in a JPEG: APP2 segments that carry a share of it each (ICC.1:2022, annex B.4). */
import { joined } from '../../bytes.ts'
import { sourceOf } from '../../formats/image.ts'
import { walkJpeg } from '../../formats/jpeg/walk.ts'

const SIGNATURE = new TextEncoder().encode('ICC_PROFILE\0')
/** A segment holds 65,533 bytes: the signature, its own number, how many there are, and the share. */
const SHARE_BYTES = 65_533 - SIGNATURE.length - 2

/** Puts a profile into a JPEG that has none: behind SOI and a JFIF segment. `profile`: at most 16 MB. */
export function withJpegProfile(jpeg: Uint8Array, profile: Uint8Array): Uint8Array<ArrayBuffer> {
  const shares = Math.ceil(profile.length / SHARE_BYTES)
  if (shares > 255) throw new Error('the colour profile is too large for a JPEG')
  const at = jpeg[2] === 0xff && jpeg[3] === 0xe0 ? 4 + jpeg[4]! * 256 + jpeg[5]! : 2
  const segments = Array.from({ length: shares }, (_, number) => {
    const share = profile.subarray(number * SHARE_BYTES, (number + 1) * SHARE_BYTES)
    const length = 2 + SIGNATURE.length + 2 + share.length
    return [
      Uint8Array.of(0xff, 0xe2, length >> 8, length & 255),
      SIGNATURE,
      Uint8Array.of(number + 1, shares),
      share,
    ]
  })
  return joined(jpeg.subarray(0, at), ...segments.flat(), jpeg.subarray(at))
}

/** Collects the shares of a profile, in whatever order they come. */
export function createProfileCollector() {
  const shares = new Map<number, Uint8Array>()
  let expected = 0
  let broken = false
  return {
    /** `payload`: of any APP2 segment, without its length. */
    add(payload: Uint8Array): void {
      if (!SIGNATURE.every((byte, i) => payload[i] === byte) || payload.length < SIGNATURE.length + 2) return
      const number = payload[SIGNATURE.length]!
      const total = payload[SIGNATURE.length + 1]!
      broken ||=
        number === 0 || number > total || shares.has(number) || (expected !== 0 && total !== expected)
      expected = total
      shares.set(number, payload.slice(SIGNATURE.length + 2))
    },
    /** `null` if there is none, `broken` if shares are missing or contradict each other. */
    result(): Uint8Array | null | 'broken' {
      if (shares.size === 0) return broken ? 'broken' : null
      if (broken || shares.size !== expected) return 'broken'
      const inOrder = [...shares].sort(([a], [b]) => a - b).map(([, share]) => share)
      return joined(...inOrder)
    },
  }
}

/** The same file without its profile. `jpeg`: sound. */
export async function withoutJpegProfile(jpeg: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const { segments } = await walkJpeg(sourceOf(jpeg))
  const kept = segments.filter(({ kind }) => kind !== 'icc')
  return joined(...kept.map(({ offset, length }) => jpeg.subarray(offset, offset + length)))
}
