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
  pngMayWin,
  qualityFor,
  repackingLevel,
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
  const pixels = await timed(codecs.decodeJpeg(scrubbed), milestones)
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
