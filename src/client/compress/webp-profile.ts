/** Puts an ICC profile into a simple lossless WebP, which makes it an extended one (RFC 9649, section 2.7). */
import { joined } from '../../bytes.ts'

const RIFF_HEADER_BYTES = 12
const HAS_ICC = 0x20
const HAS_ALPHA = 0x10

/** `webp`: RIFF header and one VP8L chunk, as the encoder writes it. */
export function withWebpProfile(
  webp: Uint8Array,
  profile: Uint8Array,
  { width, height }: { width: number; height: number },
): Uint8Array<ArrayBuffer> {
  const image = webp.subarray(RIFF_HEADER_BYTES)
  // VP8L: signature byte, 14 bits width, 14 bits height, then the bit that says whether alpha is used.
  const hasAlpha = (image[12]! & 0x10) !== 0
  const features = new Uint8Array(10)
  features[0] = HAS_ICC | (hasAlpha ? HAS_ALPHA : 0)
  putUint24(features, 4, width - 1)
  putUint24(features, 7, height - 1)
  const header = webp.subarray(0, RIFF_HEADER_BYTES)
  const out = joined(header, ...chunk('VP8X', features), ...chunk('ICCP', profile), image)
  new DataView(out.buffer).setUint32(4, out.length - 8, true)
  return out
}

function chunk(name: string, payload: Uint8Array): Uint8Array[] {
  const head = new Uint8Array(8)
  head.set(new TextEncoder().encode(name))
  new DataView(head.buffer).setUint32(4, payload.length, true)
  return [head, payload, new Uint8Array(payload.length % 2)]
}

function putUint24(bytes: Uint8Array, at: number, value: number): void {
  bytes.set([value & 255, (value >> 8) & 255, value >> 16], at)
}
