import type { ByteSource } from '../../formats/image.ts'
import { findGainMap } from '../../formats/jpeg/gain-map.ts'
import { readMpf } from '../../formats/jpeg/mpf.ts'
import { identifierOf } from '../../formats/jpeg/segments.ts'
import { type Jpeg, walkJpeg } from '../../formats/jpeg/walk.ts'
import { profileKindOf } from './icc.ts'
import { jpegProfileOf } from './jpeg-profile.ts'
import { areOwnSteps } from './jpeg-quality.ts'
import type { JpegFacts } from './plan.ts'

export async function jpegFactsOf(
  source: ByteSource,
): Promise<{ facts: JpegFacts; profile: Uint8Array | null }> {
  const jpeg = await walkJpeg(source)
  const { segments, frame, quantisation, exif } = jpeg
  const [luma, ...others] = frame.components
  const isChromaReducedBy = (times: number) =>
    others.every(
      ({ horizontal, vertical }) =>
        horizontal * times === luma!.horizontal && vertical * times === luma!.vertical,
    )
  const lumaTable = quantisation.get(luma!) ?? []
  const lumaTableSum = [...lumaTable].reduce((sum, value) => sum + value, 0)
  const profile = await jpegProfileOf(source, segments)
  // Only Exif says it, which is lost with new pixels.
  const isUntaggedAdobeRgb = profile === null && exif.isAdobeRgb
  return {
    facts: {
      isStandardCoding: frame.coding !== 'lossless' && !frame.arithmetic,
      precision: frame.precision,
      components: frame.components.length,
      fullChroma: isChromaReducedBy(1),
      halfChroma: isChromaReducedBy(2),
      lumaTableSum,
      isOwnOutput: areOwnSteps(lumaTable),
      gainMap: (await findGainMap(source, jpeg))
        ? 'preservable'
        : hasSecondImage(jpeg)
          ? 'unsupported'
          : 'none',
      orientation: exif.orientation ?? 1,
      profile: profile === 'broken' || isUntaggedAdobeRgb ? 'unusable' : profileKindOf(profile),
    },
    profile: profile === 'broken' ? null : profile,
  }
}

function hasSecondImage({ segments, xmp }: Jpeg): boolean {
  return (
    GAIN_MAP_XMP.test(xmp) ||
    segments.some(
      ({ kind, body }) => kind === 'gain-map' || (kind === 'mpf' && body && namesSecondImage(body)),
    )
  )
}

/** Adobe's namespace prefix (Ultra HDR), and Apple's. */
const GAIN_MAP_XMP = /hdrgm|hdr-gain-map|HDRGainMap/

/** An MPF entry other than a preview: a gain map, a depth map, the other eye. It may be the only sign of Apple's gain map. */
function namesSecondImage(body: Uint8Array): boolean {
  const [, ...others] = readMpf(body.subarray(identifierOf('mpf').length), 0)
  return others.some(({ isPreview }) => !isPreview)
}
