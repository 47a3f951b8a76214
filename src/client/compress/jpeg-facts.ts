import { latin1 } from '../../formats/bytes/text.ts'
import type { ByteSource } from '../../formats/image.ts'
import { gainMapBytesOf } from '../../formats/jpeg/gain-map.ts'
import { readMpf } from '../../formats/jpeg/mpf.ts'
import { identifierOf } from '../../formats/jpeg/segments.ts'
import { type Jpeg, walkJpeg } from '../../formats/jpeg/walk.ts'
import { profileKindOf } from './icc.ts'
import { jpegProfileOf } from './jpeg-profile.ts'
import { COARSEST_QUALITY, FINEST_QUALITY } from './jpeg-quality.ts'
import type { JpegFacts } from './plan.ts'

export async function jpegFactsOf(
  source: ByteSource,
): Promise<{ facts: JpegFacts; profile: Uint8Array | null }> {
  const { segments, frame, quantisation, exif, end } = await walkJpeg(source)
  const [luma, ...others] = frame.components
  const isChromaReducedBy = (times: number) =>
    others.every(
      ({ horizontal, vertical }) =>
        horizontal * times === luma!.horizontal && vertical * times === luma!.vertical,
    )
  const lumaTable = quantisation[luma!.quantisation] ?? []
  const lumaTableSum = [...lumaTable].reduce((sum, value) => sum + value, 0)
  const profile = await jpegProfileOf(source, segments)
  return {
    facts: {
      isStandardCoding: frame.coding !== 'lossless' && !frame.arithmetic,
      precision: frame.precision,
      components: frame.components.length,
      fullChroma: isChromaReducedBy(1),
      halfChroma: isChromaReducedBy(2),
      lumaTableSum,
      isOwnOutput: frame.coding === 'progressive' && isOwnTable(lumaTable),
      gainMap: (await hasGainMap(source, end))
        ? 'preservable'
        : hasSecondImage(segments)
          ? 'unsupported'
          : 'none',
      orientation: exif.orientation ?? 1,
      profile: profile === 'broken' ? 'unusable' : profileKindOf(profile),
    },
    profile: profile === 'broken' ? null : profile,
  }
}

/** A gain map would follow the primary image. */
async function hasGainMap(source: ByteSource, end: number): Promise<boolean> {
  return end < source.size && (await gainMapBytesOf(source)) !== null
}

function hasSecondImage(segments: Jpeg['segments']): boolean {
  return segments.some(
    ({ kind, body }) =>
      kind === 'gain-map' ||
      (kind === 'xmp' && body !== undefined && GAIN_MAP_XMP.test(latin1(body))) ||
      (kind === 'mpf' && body !== undefined && namesSecondImage(body)),
  )
}

/** Adobe's namespace prefix (Ultra HDR), and Apple's. */
const GAIN_MAP_XMP = /hdrgm|hdr-gain-map|HDRGainMap/

/** An MPF entry other than a preview: a gain map, a depth map, the other eye. It may be the only sign of Apple's gain map. */
function namesSecondImage(body: Uint8Array): boolean {
  const [, ...others] = readMpf(body.subarray(identifierOf('mpf').length), 0)
  return others.some(({ isPreview }) => !isPreview)
}

/** mozjpeg's table 2 at quality 50, in file order (zigzag). */
// biome-ignore format: as a table
const BASE = [
  12, 17, 18, 19, 20, 20, 21, 20, 20, 26, 31, 26, 21, 26, 30, 34, 28, 26, 26, 33, 40, 46, 35, 36, 30, 33, 51, 56, 63, 61, 58, 46,
  40, 46, 66, 68, 90, 76, 62, 46, 87, 69, 55, 55, 86, 96, 81, 86, 90, 96, 102, 100, 100, 66, 73, 111, 121, 113, 102, 120, 91, 101,
  105, 103,
]

/** Whether this engine wrote the file, judged by its luma quantisation table. `table`: 64 entries in file order. */
function isOwnTable(table: ArrayLike<number>): boolean {
  for (let quality = COARSEST_QUALITY; quality <= FINEST_QUALITY; quality++) {
    // How jpeg_set_quality scales a table (jcparam.c).
    const scale = 200 - 2 * quality
    if (BASE.every((step, i) => table[i] === Math.max(1, Math.floor((step * scale + 50) / 100)))) return true
  }
  return false
}
