/** Encodes previews as baseline JPEG with 4:2:0 chroma. */
import { concatBytes } from '../../bytes.ts'
import { APP0, encodeSegment, identifierOf } from '../../formats/jpeg/segments.ts'
import { PREVIEW_MAX_BYTES, type PreviewType } from '../../protocol.ts'
import { encodeFile } from './dct/encode.ts'
import { requantisationOf } from './dct/quantise.ts'
import { coefficientsOf, type Plane } from './dct/transform.ts'
import { withJpegProfile } from './jpeg-profile.ts'
import { stepsAt } from './jpeg-quality.ts'
import type { Pixels } from './pixels.ts'

export interface MadePreview {
  bytes: Uint8Array<ArrayBuffer>
  type: PreviewType
}

/** Target size of a preview: eighteen of them in a gallery are a megabyte. */
const TARGET_BYTES = 58_000

/**
 * JPEG qualities, and the size of a photograph at each relative to the first. Below the last, the quantisation tables are too
 * coarse for baseline JPEG.
 */
const QUALITIES: [quality: number, bytes: number][] = [
  [60, 1],
  [50, 0.84],
  [40, 0.69],
  [30, 0.54],
  [24, 0.44],
]

/** Qualities to try, finest first. `bytes`: size of the preview at the first one, to skip those that would be too large. */
export function previewQualities(bytes = 0): number[] {
  const first = QUALITIES.findIndex(([, ratio]) => ratio * bytes <= TARGET_BYTES)
  // If all are expected to be too large, -1 leaves only the coarsest.
  return QUALITIES.slice(first).map(([quality]) => quality)
}

/**
 * Quality of the coefficients that are then quantised for each of those. Much finer: values that were rounded to similar steps
 * can't be rounded well again.
 */
const TRANSFORM_QUALITY = 94

/** JFIF 1.02 without a density or a thumbnail. */
const JFIF = encodeSegment(APP0, concatBytes(identifierOf('jfif'), Uint8Array.of(1, 2, 0, 0, 1, 0, 1, 0, 0)))

/** `planes`: as displayed; luma, and unless gray, chroma at half its size. `null` if no result is small enough. */
export function previewJpegOf(planes: Plane[], profile: Uint8Array | null): MadePreview | null {
  const [firstQuality = 0] = previewQualities()
  const image = coefficientsOf(planes, stepsAt(TRANSFORM_QUALITY))
  const make = (quality: number) => {
    const steps = stepsAt(quality)
    const coarser = requantisationOf(image, { luma: steps, chroma: steps })
    return withJpegProfile(encodeFile(image, coarser, [JFIF]), profile)
  }
  let bytes = make(firstQuality)
  for (const quality of previewQualities(bytes.length)) {
    if (bytes.length <= TARGET_BYTES) break
    bytes = make(quality)
  }
  return bytes.length <= PREVIEW_MAX_BYTES ? { bytes, type: 'image/jpeg' } : null
}

/** YCbCr (ITU-T T.871, 7), with chroma at half the resolution. `gray`: luma only. */
export function planesOfPixels({ data, width, height }: Pixels, { gray }: { gray: boolean }): Plane[] {
  const luma = new Uint8ClampedArray(width * height)
  for (let to = 0, at = 0; to < luma.length; to++, at += 4)
    luma[to] = 0.299 * data[at]! + 0.587 * data[at + 1]! + 0.114 * data[at + 2]!
  const full = { data: luma, width, height }
  if (gray) return [full]
  const size = { width: (width + 1) >> 1, height: (height + 1) >> 1 }
  const blue = new Uint8ClampedArray(size.width * size.height)
  const red = new Uint8ClampedArray(size.width * size.height)
  for (let y = 0, to = 0; y < size.height; y++) {
    const top = 2 * y * width
    const below = Math.min(height - 1, 2 * y + 1) * width
    for (let x = 0; x < size.width; x++, to++) {
      const left = 2 * x
      const right = Math.min(width - 1, left + 1)
      const [a, b, c, d] = [4 * (top + left), 4 * (top + right), 4 * (below + left), 4 * (below + right)]
      const r = data[a]! + data[b]! + data[c]! + data[d]!
      const g = data[a + 1]! + data[b + 1]! + data[c + 1]! + data[d + 1]!
      const u = data[a + 2]! + data[b + 2]! + data[c + 2]! + data[d + 2]!
      blue[to] = 128 + (-0.168736 * r - 0.331264 * g + 0.5 * u) / 4
      red[to] = 128 + (0.5 * r - 0.418688 * g - 0.081312 * u) / 4
    }
  }
  return [full, { data: blue, ...size }, { data: red, ...size }]
}
