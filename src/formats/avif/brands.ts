/** The brands of AVIF files (AVIF 1.2, section 6; 23008-12, 10). */

import type { Edit } from '../bmff/edits.ts'
import { ascii, latin1 } from '../bytes/text.ts'
import { HEIC_BRANDS } from '../heic/brands.ts'

const AVIF_BRANDS: ReadonlySet<string> = new Set(['avif', 'avis'])

/** Brands that do not imply a codec. */
const GENERAL_BRANDS: ReadonlySet<string> = new Set(['mif1', 'miaf', 'msf1'])

/** Types of items and tracks with another codec than AV1. */
const OTHER_CODECS = ['hvc1', 'hev1', 'lhv1', 'avc1', 'vvc1', 'jpeg', 'j2k1', 'unci']

/** The brands in the file type box, major brand first. Empty when `head` is not the start of a box file. */
export function brandsOf(head: Uint8Array): string[] {
  if (head.length < 16 || latin1(head.subarray(4, 8)) !== 'ftyp') return []
  const end = Math.min(new DataView(head.buffer, head.byteOffset).getUint32(0), head.length)
  const brands = [latin1(head.subarray(8, 12))]
  for (let at = 16; at + 4 <= end; at += 4) brands.push(latin1(head.subarray(at, at + 4)))
  return brands
}

export function namesAvif(brands: string[]): boolean {
  return brands.some((brand) => AVIF_BRANDS.has(brand) || GENERAL_BRANDS.has(brand))
}

/**
 * True if `head` is the start of an AVIF file. If its brands are ambiguous, the codecs found in `head` decide; if there are
 * none, the file is assumed to be AVIF and left to `inspectAvif`.
 */
export function isAvif(head: Uint8Array): boolean {
  const brands = brandsOf(head)
  if (brands.some((brand) => AVIF_BRANDS.has(brand))) return true
  if (!namesAvif(brands) || brands.some((brand) => HEIC_BRANDS.has(brand))) return false
  const rest = latin1(head.subarray(8))
  return rest.includes('av01') || !OTHER_CODECS.some((codec) => rest.includes(codec))
}

/** Brands in common use for images and videos (14496-12, annex E; 23008-12, 10; MIAF; AVIF). */
const KNOWN_BRANDS =
  /^(avi[fso]|mif[1-3]|mi[ax]f|msf1|MA1[AB]|Mi(HA|HB|HE|Pr|AC|An|Bu|Cm)|iso[0-9a-m]|mp4[12]|tmap|pred|1pic|geo1|unif|av01|dash|qt {2}|M4A )$/

/** Overwrites unknown brands with a known one. `box`: the file type box, at the start of the file. */
export function brandEdits(box: Uint8Array): Edit[] {
  const known = brandsOf(box).find((brand) => KNOWN_BRANDS.test(brand)) ?? 'avif'
  const edits: Edit[] = []
  for (let at = 8; at + 4 <= box.length; at += at === 8 ? 8 : 4) {
    const brand = latin1(box.subarray(at, at + 4))
    if (!KNOWN_BRANDS.test(brand) && !HEIC_BRANDS.has(brand))
      edits.push({ start: at, end: at + 4, bytes: ascii(known) })
  }
  return edits
}
