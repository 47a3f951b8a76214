import { latin1 } from '../../formats/bytes/text.ts'
import type { ByteSource } from '../../formats/image.ts'
import { gainMapBytesOf } from '../../formats/jpeg/gain-map.ts'
import { readMpf } from '../../formats/jpeg/mpf.ts'
import { type JpegSegment, nameOfKind } from '../../formats/jpeg/segments.ts'
import { type Jpeg, walkJpeg } from '../../formats/jpeg/walk.ts'
import { profileKindOf } from './icc.ts'
import { createProfileCollector } from './jpeg-profile.ts'
import { isOwnTable } from './own-tables.ts'
import type { JpegFacts } from './plan.ts'

export async function jpegFactsOf(
  source: ByteSource,
): Promise<{ facts: JpegFacts; profile: Uint8Array | null }> {
  const { segments, frame, quantisation, end } = await walkJpeg(source)
  const [luma, ...others] = frame.components
  const fullChroma = others.every(
    ({ horizontal, vertical }) => horizontal === luma!.horizontal && vertical === luma!.vertical,
  )
  const halfChroma = others.every(
    ({ horizontal, vertical }) => horizontal * 2 === luma!.horizontal && vertical * 2 === luma!.vertical,
  )
  const lumaTable = quantisation[luma!.quantisation] ?? []
  const lumaTableSum = [...lumaTable].reduce((sum, value) => sum + value, 0)
  const profile = await profileOf(source, segments)
  return {
    facts: {
      ordinary: frame.coding !== 'lossless' && !frame.arithmetic,
      precision: frame.precision,
      components: frame.components.length,
      fullChroma,
      halfChroma,
      lumaTableSum,
      ownWork: frame.coding === 'progressive' && isOwnTable(lumaTable),
      gainMap: (await hasGainMap(source, end)) ? 'kept' : hasSecondPicture(segments) ? 'strange' : 'none',
      profile: profile === 'broken' ? 'unfit' : profileKindOf(profile),
    },
    profile: profile === 'broken' ? null : profile,
  }
}

async function profileOf(source: ByteSource, segments: JpegSegment[]): Promise<Uint8Array | null | 'broken'> {
  const shares = createProfileCollector()
  for (const { kind, offset, length } of segments) {
    if (kind !== 'icc') continue
    const bytes = await source.read(offset, length)
    // Fill bytes, the marker, the length.
    const bodyAt = bytes.findIndex((byte) => byte !== 0xff) + 3
    shares.add(bytes.subarray(bodyAt))
  }
  return shares.result()
}

/** It would be behind the first picture. */
async function hasGainMap(source: ByteSource, end: number): Promise<boolean> {
  return end < source.size && (await gainMapBytesOf(source)) !== null
}

function hasSecondPicture(segments: Jpeg['segments']): boolean {
  return segments.some(
    ({ kind, body }) =>
      kind === 'gain-map' ||
      (kind === 'xmp' && body !== undefined && GAIN_MAP_XMP.test(latin1(body))) ||
      (kind === 'mpf' && body !== undefined && namesSecondPicture(body)),
  )
}

/** Adobe's namespace prefix (Ultra HDR), and Apple's. */
const GAIN_MAP_XMP = /hdrgm|hdr-gain-map|HDRGainMap/

/** A picture other than a preview: a gain map, depth, the other eye. Apple may mark its gain map only so. */
function namesSecondPicture(body: Uint8Array): boolean {
  const [, ...others] = readMpf(body.subarray(nameOfKind('mpf').length), 0)
  return others.some(({ isPreview }) => !isPreview)
}
