/** Carries out a plan. Runs in a worker. */

import type { ImageType } from '../../protocol.ts'
import type { Action } from '../types.ts'
import { restoreChroma } from './chroma.ts'
import type { Codecs } from './codecs.ts'
import { withJpegProfile } from './jpeg-profile.ts'
import { spendingOf } from './jpeg-spending.ts'
import { isOpaque, oriented, type Pixels, sampled } from './pixels.ts'
import {
  JPEG_QUALITY,
  looksLikePhoto,
  PHOTO_PNG_QUALITY,
  type Plan,
  qualityFor,
  worthRecompressing,
  worthWebp,
} from './plan.ts'
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
  /** Exif orientation that the pixels still need. */
  orientation: number
}

/** `null` if nothing smaller came out that is worth the change. Throws what a codec throws. */
export async function recompress(
  plan: Plan & { kind: 'jpeg' | 'png' },
  original: Original,
  codecs: Codecs,
): Promise<Recompressed | null> {
  return plan.kind === 'jpeg' ? fromJpeg(plan, original, codecs) : fromPng(plan, original, codecs)
}

async function fromJpeg(
  plan: Plan & { kind: 'jpeg' },
  { scrubbed, profile }: Original,
  codecs: Codecs,
): Promise<Recompressed | null> {
  const pixels = await codecs.decodeJpeg(scrubbed)
  if (plan.restoreChroma) restoreChroma(pixels)
  const encoded = await encodePhotograph(pixels, plan, codecs)
  const bytes = plan.keepProfile && profile ? withJpegProfile(encoded, profile) : encoded
  return worthRecompressing(scrubbed.length, bytes.length)
    ? { bytes, type: 'image/jpeg', action: 'lossy' }
    : null
}

/** Encodes a sample to learn what the picture spends its bytes on, then the whole. */
async function encodePhotograph(pixels: Pixels, plan: Plan & { kind: 'jpeg' }, codecs: Codecs) {
  const sample = await codecs.encodeJpeg(sampled(pixels), { ...plan, quality: JPEG_QUALITY })
  return codecs.encodeJpeg(pixels, { ...plan, quality: qualityFor(await spendingOf(sample)) })
}

async function fromPng(
  plan: Plan & { kind: 'png' },
  { scrubbed, profile, orientation }: Original,
  codecs: Codecs,
): Promise<Recompressed | null> {
  const kept = plan.keepProfile ? profile : null
  let webp: Uint8Array<ArrayBuffer> | undefined
  if (plan.mayBeWebp) {
    const pixels = oriented(await codecs.decodePng(scrubbed), orientation)
    const packed = await encodeWebp(pixels, kept, codecs)
    webp = packed
    const area = pixels.width * pixels.height
    if (plan.mayBeJpeg && looksLikePhoto(packed.length, area, isOpaque(pixels))) {
      const jpeg = await encodePhotoOfPng(pixels, kept, codecs)
      if (jpeg.length < Math.min(packed.length, scrubbed.length)) {
        return { bytes: jpeg, type: 'image/jpeg', action: 'lossy' }
      }
    }
  }
  const png = await codecs.optimisePng(scrubbed)
  const bestPng = png.length < scrubbed.length ? png : scrubbed
  if (webp && worthWebp(webp.length, bestPng.length)) {
    return { bytes: webp, type: 'image/webp', action: 'lossless' }
  }
  return bestPng === png
    ? { bytes: png as Uint8Array<ArrayBuffer>, type: 'image/png', action: 'lossless' }
    : null
}

async function encodeWebp(pixels: Pixels, profile: Uint8Array | null, codecs: Codecs) {
  const bytes = await codecs.encodeWebp(pixels)
  return profile ? withWebpProfile(bytes, profile, pixels) : bytes
}

async function encodePhotoOfPng(pixels: Pixels, profile: Uint8Array | null, codecs: Codecs) {
  const bytes = await codecs.encodeJpeg(pixels, { quality: PHOTO_PNG_QUALITY, fullChroma: true, gray: false })
  return profile ? withJpegProfile(bytes, profile) : bytes
}
