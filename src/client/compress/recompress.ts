/** Carries out a plan. Runs in a worker. */

import { sourceOf } from '../../formats/image.ts'
import type { ImageType } from '../../protocol.ts'
import type { Action } from '../types.ts'
import { restoreChroma } from './chroma.ts'
import { fineColourShows } from './chroma-detail.ts'
import type { Codecs } from './codecs.ts'
import { withExifOf } from './jpeg-exif.ts'
import { withJpegProfile } from './jpeg-profile.ts'
import { PHOTO_PNG_QUALITY, qualityFor, type Sample, USUAL_QUALITY } from './jpeg-quality.ts'
import { colourShareOf } from './jpeg-spending.ts'
import { isOpaque, oriented, type Pixels, sampled } from './pixels.ts'
import {
  looksLikePhoto,
  type Plan,
  pngMayWin,
  repackingLevel,
  worthRecompressing,
  worthWebp,
} from './plan.ts'
import { textureLossOf } from './texture-loss.ts'
import { withWebpProfile } from './webp-profile.ts'

export interface Recompressed {
  bytes: Uint8Array<ArrayBuffer>
  type: ImageType
  action: Action
}

export interface Original {
  /** Without its metadata. */
  scrubbed: Uint8Array<ArrayBuffer>
  profile: Uint8Array | null
  /** Unit: pixels. */
  area: number
  /** Exif orientation that the pixels still need. */
  orientation: number
}

/** What is told while the work goes on. */
export interface Milestones {
  /** How fast this machine is. Unit: milliseconds. */
  decoded(milliseconds: number): void
  /** A result that is worth the change, while a better one is looked for. */
  interim(result: Recompressed): Promise<void>
}

/** `null` if nothing smaller came out that is worth the change. Throws what a codec throws. */
export async function recompress(
  plan: Plan & { kind: 'jpeg' | 'png' },
  original: Original,
  codecs: Codecs,
  milestones: Milestones,
): Promise<Recompressed | null> {
  return plan.kind === 'jpeg'
    ? fromJpeg(plan, original, codecs, milestones)
    : fromPng(plan, original, codecs, milestones)
}

async function timed(decode: Promise<Pixels>, { decoded }: Milestones): Promise<Pixels> {
  const start = performance.now()
  const pixels = await decode
  decoded(performance.now() - start)
  return pixels
}

async function fromJpeg(
  plan: Plan & { kind: 'jpeg' },
  { scrubbed, profile }: Original,
  codecs: Codecs,
  milestones: Milestones,
): Promise<Recompressed | null> {
  const decoding = codecs.decodeJpeg(scrubbed, plan.keepGainMap ? 'stored' : 'displayed')
  const pixels = await timed(decoding, milestones)
  const fullChroma = plan.fullChroma && !plan.gray && fineColourShows(pixels)
  if (plan.restoreChroma) restoreChroma(pixels)
  const quality = qualityFor(await sampleOf(pixels, plan, codecs), { fullChroma })
  const encoded = await codecs.encodeJpeg(pixels, { quality, fullChroma, gray: plan.gray })
  const base = plan.keepProfile && profile ? withJpegProfile(encoded, profile) : encoded
  const bytes = plan.keepGainMap ? await withGainMap(base, scrubbed) : base
  return bytes && worthRecompressing(scrubbed.length, bytes.length)
    ? { bytes, type: 'image/jpeg', action: 'lossy' }
    : null
}

/** The map is laid over the pixels as they are stored: the base is stored, and turned, as it was. */
async function withGainMap(base: Uint8Array, original: Uint8Array): Promise<Uint8Array<ArrayBuffer> | null> {
  const { withGainMapOf } = await import('../../formats/jpeg/with-gain-map.ts')
  return withGainMapOf(await withExifOf(base, original), sourceOf(original))
}

/** Encodes a sixth of the rows to learn what the picture spends its bytes on, and what it loses. */
async function sampleOf(pixels: Pixels, { gray }: { gray: boolean }, codecs: Codecs): Promise<Sample> {
  const sample = sampled(pixels)
  const quality = { luma: USUAL_QUALITY, chroma: USUAL_QUALITY }
  const encoded = await codecs.encodeJpeg(sample, { quality, fullChroma: false, gray })
  return {
    bytes: (encoded.length * pixels.height) / sample.height,
    colourShare: await colourShareOf(encoded),
    textureLoss: textureLossOf(sample, await codecs.decodeJpeg(encoded)),
  }
}

async function fromPng(
  plan: Plan & { kind: 'png' },
  { scrubbed, profile, orientation, area }: Original,
  codecs: Codecs,
  milestones: Milestones,
): Promise<Recompressed | null> {
  const kept = plan.keepProfile ? profile : null
  let webp: Recompressed | undefined
  if (plan.mayBeWebp) {
    const decoded = await timed(codecs.decodePng(scrubbed), milestones)
    const pixels = oriented(decoded, orientation)
    webp = { bytes: await encodeWebp(pixels, kept, codecs), type: 'image/webp', action: 'lossless' }
    if (plan.mayBeJpeg && looksLikePhoto(webp.bytes.length, area, isOpaque(pixels))) {
      const bytes = await encodePhotoOfPng(pixels, kept, codecs)
      if (bytes.length < Math.min(webp.bytes.length, scrubbed.length)) {
        return { bytes, type: 'image/jpeg', action: 'lossy' }
      }
    }
    if (!pngMayWin(webp.bytes.length, scrubbed.length, area)) return webp
    if (worthWebp(webp.bytes.length, scrubbed.length)) await milestones.interim(webp)
  }
  const repacked = await codecs.optimisePng(scrubbed, repackingLevel(area, plan.mayBeWebp))
  const png: Recompressed | null =
    repacked.length < scrubbed.length ? { bytes: repacked, type: 'image/png', action: 'lossless' } : null
  return webp && worthWebp(webp.bytes.length, png?.bytes.length ?? scrubbed.length) ? webp : png
}

async function encodeWebp(pixels: Pixels, profile: Uint8Array | null, codecs: Codecs) {
  const bytes = await codecs.encodeWebp(pixels)
  return profile ? withWebpProfile(bytes, profile, pixels) : bytes
}

async function encodePhotoOfPng(pixels: Pixels, profile: Uint8Array | null, codecs: Codecs) {
  const bytes = await codecs.encodeJpeg(pixels, { quality: PHOTO_PNG_QUALITY, fullChroma: true, gray: false })
  return profile ? withJpegProfile(bytes, profile) : bytes
}
