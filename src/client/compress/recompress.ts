/** Executes a compression plan. Runs in a worker. */
import { concatBytes } from '../../bytes.ts'
import { memorySource } from '../../formats/image.ts'
import { withGainMapOf } from '../../formats/jpeg/gain-map.ts'
import { walkJpeg } from '../../formats/jpeg/walk.ts'
import { hasColour } from '../../formats/png/header.ts'
import { type ImageType, PREVIEW_MAX_BYTES } from '../../protocol.ts'
import type { Action } from '../types.ts'
import { fineColourShare, restoreChroma } from './chroma.ts'
import type { Codecs } from './codecs.ts'
import { effortFor, type Timing } from './effort.ts'
import { profileKindOf } from './icc.ts'
import { withJpegProfile } from './jpeg-profile.ts'
import {
  BROWSER_QUALITY,
  isBrowserEncoded,
  keepsChroma,
  photoPngQuality,
  qualityFor,
  type Sample,
  USUAL_QUALITY,
} from './jpeg-quality.ts'
import { isOpaque, oriented, type Pixels, sampled, sampledRows } from './pixels.ts'
import {
  isSurelyNoPhoto,
  isSurelyPhoto,
  looksLikePhoto,
  MAX_QUICK_WEBP,
  mayBeQuick,
  type Plan,
  pngMayBeatWebp,
  repackingLevel,
  shouldEstimateRepacking,
  shouldTrySample,
  worthRecompressing,
  worthRepacking,
  worthWebp,
} from './plan.ts'
import type { MadePreview } from './preview-jpeg.ts'
import { quickJpeg } from './quick-jpeg.ts'
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
  /** Exif orientation of the stored pixels. */
  orientation: number
}

/** Progress callbacks of a recompression. */
export interface Milestones {
  /** Time that decoding took, as a measure of this machine's speed. */
  decoded(milliseconds: number): void
  /** A result that is already worth using, reported while a better one is computed. */
  interim(result: Recompressed): Promise<void>
  /** The pixels as displayed, with their colour profile. Called if the result will be large enough to need a preview. */
  previewSource(pixels: Pixels, profile: Uint8Array | null): Promise<void>
  /** A finished preview, if one was made along the way. */
  preview(made: MadePreview): Promise<void>
}

/** `null` if no result is small enough to be worth the change. Rejects with a codec's error. */
export function recompress(
  plan: Plan & { kind: 'jpeg' | 'png' },
  original: Original,
  codecs: Codecs,
  milestones: Milestones,
  timing: Timing,
): Promise<Recompressed | null> {
  if (plan.kind === 'jpeg') return fromJpeg(plan, original, codecs, milestones)
  return fromPng(plan, original, codecs, milestones, timing)
}

/** Recompresses a JPEG quickly, if that delivers the link sooner or looks better. `null` if the best encoding should be used. */
export async function recompressQuickly(
  plan: Plan & { kind: 'jpeg' | 'png' },
  { scrubbed, profile, orientation }: Original,
  timing: Timing,
  { preview }: Pick<Milestones, 'preview'>,
): Promise<{ result: Recompressed | null } | null> {
  if (plan.kind === 'png' || plan.gray || plan.keepGainMap) return null
  const keptProfile = plan.keepProfile ? profile : null
  const quick = await quickJpeg(scrubbed, { profile: keptProfile, orientation }, timing)
  if (quick === null) return null
  if (quick.preview) await preview(quick.preview)
  // If the quick result isn't small enough, the original isn't worth another lossy generation.
  return { result: worthRecompressing(scrubbed.length, quick.bytes.length) ? jpegOf(quick.bytes) : null }
}

async function timed(decode: Promise<Pixels>, { decoded }: Milestones): Promise<Pixels> {
  const start = performance.now()
  const pixels = await decode
  decoded(performance.now() - start)
  return pixels
}

async function fromJpeg(
  plan: Plan & { kind: 'jpeg' },
  { scrubbed, profile, orientation }: Original,
  codecs: Codecs,
  milestones: Milestones,
): Promise<Recompressed | null> {
  const keptProfile = plan.keepProfile ? profile : null
  const decoding = codecs.decodeJpeg(scrubbed, plan.keepGainMap ? 'stored' : 'displayed')
  const pixels = await timed(decoding, milestones)
  const fineColour = plan.fullChroma && !plan.gray ? fineColourShare(pixels) : 0
  if (plan.restoreChroma) restoreChroma(pixels)
  const base = await encodePhoto(pixels, { fineColour, gray: plan.gray, profile: keptProfile }, codecs)
  const bytes = plan.keepGainMap ? await withGainMap(base, scrubbed) : base
  const result = bytes && worthRecompressing(scrubbed.length, bytes.length) ? jpegOf(bytes) : null
  if ((result?.bytes ?? scrubbed).length > PREVIEW_MAX_BYTES)
    await milestones.previewSource(plan.keepGainMap ? oriented(pixels, orientation) : pixels, keptProfile)
  return result
}

function jpegOf(bytes: Uint8Array<ArrayBuffer>): Recompressed {
  return { bytes, type: 'image/jpeg', action: 'lossy' }
}

/** Encodes a photograph as JPEG, at a quality chosen from a sample of it. `fineColour`: 0 if the chroma has half the resolution. */
export async function encodePhoto(
  pixels: Pixels,
  { fineColour, gray, profile }: { fineColour: number; gray: boolean; profile: Uint8Array | null },
  codecs: Codecs,
): Promise<Uint8Array<ArrayBuffer>> {
  const sample = await sampleOf(pixels, { gray }, codecs)
  const fullChroma = keepsChroma(fineColour)
  const encoded =
    !fullChroma && isBrowserEncoded(sample)
      ? await codecs.encodeJpeg(pixels, { ...BROWSER_OPTIONS, gray })
      : await codecs.encodeJpeg(pixels, { quality: qualityFor(sample, fineColour), fullChroma, gray })
  return withJpegProfile(encoded, profile)
}

/** The gain map applies to the stored pixels, so the base keeps its stored orientation and its Exif tag. */
async function withGainMap(base: Uint8Array, original: Uint8Array): Promise<Uint8Array<ArrayBuffer> | null> {
  const { segments } = await walkJpeg(memorySource(original))
  const exif = segments.find(({ kind }) => kind === 'exif')
  if (!exif) return withGainMapOf(base, memorySource(original))
  // After scrubbing, Exif only holds what viewers need. It must directly follow SOI (Exif 3.0, 4.5.4).
  const segment = original.subarray(exif.offset, exif.offset + exif.length)
  return withGainMapOf(concatBytes(base.subarray(0, 2), segment, base.subarray(2)), memorySource(original))
}

const BROWSER_OPTIONS = {
  quality: { luma: BROWSER_QUALITY, chroma: BROWSER_QUALITY },
  fullChroma: false,
  plain: true,
}

/** Encodes a sample of the image with this engine's settings and with a browser's, and measures size and loss of both. */
async function sampleOf(pixels: Pixels, { gray }: { gray: boolean }, codecs: Codecs): Promise<Sample> {
  const sample = sampled(pixels)
  const ratio = (pixels.width * pixels.height) / (sample.width * sample.height)
  const quality = { luma: USUAL_QUALITY, chroma: USUAL_QUALITY }
  const own = await codecs.encodeJpeg(sample, { quality, fullChroma: false, gray })
  const browser = await codecs.encodeJpeg(sample, { ...BROWSER_OPTIONS, gray })
  return {
    bytes: own.length * ratio,
    loss: textureLossOf(sample, await codecs.decodeJpeg(own)),
    browserBytes: browser.length * ratio,
    browserLoss: textureLossOf(sample, await codecs.decodeJpeg(browser)),
  }
}

async function fromPng(
  plan: Plan & { kind: 'png' },
  { scrubbed, profile, orientation, area }: Original,
  codecs: Codecs,
  milestones: Milestones,
  timing: Timing,
): Promise<Recompressed | null> {
  const keptProfile = plan.keepProfile ? profile : null
  let webp: Recompressed | undefined
  if (plan.mayBeWebp) {
    const decoded = await timed(codecs.decodePng(scrubbed), milestones)
    const pixels = oriented(decoded, orientation)
    const withPreview = async (result: Recompressed) => {
      if (result.bytes.length > PREVIEW_MAX_BYTES) await milestones.previewSource(pixels, keptProfile)
      return result
    }
    // WebP is smaller than PNG, so its size would not look like a photograph's either.
    const mayBePhoto = plan.mayBeJpeg && looksLikePhoto(scrubbed.length, area) && isOpaque(pixels)
    if (mayBePhoto && shouldTrySample(area)) {
      const sample = sampled(pixels)
      const { length } = await codecs.encodeWebp(sample)
      if (isSurelyPhoto(length, sample.width * sample.height)) {
        const photo = await photoOfPng(pixels, keptProfile, codecs)
        if (photo.bytes.length < scrubbed.length) return withPreview(photo)
      }
    }
    if (await isQuickWebpBetter(pixels, { mayBePhoto }, timing, codecs)) {
      const bytes = await webpOf(pixels, keptProfile, codecs, 'quick')
      if (worthWebp(bytes.length, scrubbed.length)) return withPreview(losslessWebp(bytes))
    }
    webp = losslessWebp(await webpOf(pixels, keptProfile, codecs))
    if (mayBePhoto && looksLikePhoto(webp.bytes.length, area)) {
      const photo = await photoOfPng(pixels, keptProfile, codecs)
      if (photo.bytes.length < Math.min(webp.bytes.length, scrubbed.length)) return withPreview(photo)
    }
    if (!pngMayBeatWebp(webp.bytes.length, scrubbed.length, area)) return withPreview(webp)
    // Make the preview now, because repacking may time out.
    await milestones.previewSource(pixels, keptProfile)
    if (worthWebp(webp.bytes.length, scrubbed.length)) await milestones.interim(webp)
  }
  const png = await repackPng(scrubbed, profile, area, repackingLevel(area, plan.mayBeWebp), codecs)
  return webp && worthWebp(webp.bytes.length, png?.bytes.length ?? scrubbed.length) ? webp : png
}

function losslessWebp(bytes: Uint8Array<ArrayBuffer>): Recompressed {
  return { bytes, type: 'image/webp', action: 'lossless' }
}

/** Whether a quick encoding delivers the link sooner, for about as many bytes. Judged by a sample, which is encoded both ways. */
async function isQuickWebpBetter(
  pixels: Pixels,
  { mayBePhoto }: { mayBePhoto: boolean },
  { line, start }: Timing,
  codecs: Codecs,
): Promise<boolean> {
  const area = pixels.width * pixels.height
  if (!line || !mayBeQuick(area)) return false
  const sample = sampledRows(pixels)
  const share = pixels.height / sample.height
  const estimated = async (effort?: 'quick') => {
    const begun = performance.now()
    const { length } = await codecs.encodeWebp(sample, effort)
    return { bytes: share * length, milliseconds: share * (performance.now() - begun) }
  }
  const best = await estimated()
  // Only the best encoding's size tells whether it is a photograph.
  if (mayBePhoto && !isSurelyNoPhoto(best.bytes, area)) return false
  const quick = await estimated('quick')
  if (quick.bytes > MAX_QUICK_WEBP * best.bytes) return false
  const estimate = {
    bestMs: best.milliseconds - quick.milliseconds,
    bestBytes: best.bytes,
    quickBytes: quick.bytes,
    elapsedMs: performance.now() - start + quick.milliseconds,
  }
  return effortFor(estimate, line) === 'quick'
}

/**
 * `null` if the result is not smaller, if the first rows of a large image predict that it won't be, or if the profile no longer
 * applies to it.
 */
async function repackPng(
  scrubbed: Uint8Array,
  profile: Uint8Array | null,
  area: number,
  level: 0 | 1 | 2,
  codecs: Codecs,
): Promise<Recompressed | null> {
  if (shouldEstimateRepacking(area)) {
    const { stripOf } = await import('./png-strip.ts')
    const strip = await stripOf(scrubbed)
    const repacked = strip && (await codecs.optimisePng(strip.png, level)).length
    if (repacked !== null && !worthRepacking(repacked, strip!.bytes)) return null
  }
  const bytes = await codecs.optimisePng(scrubbed, level)
  const isBetter = bytes.length < scrubbed.length && keepsProfile(profile, scrubbed, bytes)
  return isBetter ? { bytes, type: 'image/png', action: 'lossless' } : null
}

const COLOUR_TYPE_AT = 25

/** Whether the profile still applies: repacking stores grey pixels as a grey PNG, and a few greys as a palette. */
function keepsProfile(profile: Uint8Array | null, before: Uint8Array, after: Uint8Array): boolean {
  if (profile === null || profileKindOf(profile) === 'srgb') return true
  return hasColour(before[COLOUR_TYPE_AT]!) === hasColour(after[COLOUR_TYPE_AT]!)
}

/** Encodes lossless WebP. */
export async function webpOf(
  pixels: Pixels,
  profile: Uint8Array | null,
  codecs: Codecs,
  effort?: 'quick',
): Promise<Uint8Array<ArrayBuffer>> {
  return withWebpProfile(await codecs.encodeWebp(pixels, effort), profile, pixels)
}

async function photoOfPng(pixels: Pixels, profile: Uint8Array | null, codecs: Codecs): Promise<Recompressed> {
  const encoded = await codecs.encodeJpeg(pixels, {
    quality: photoPngQuality(fineColourShare(pixels)),
    fullChroma: true,
    gray: false,
  })
  return jpegOf(withJpegProfile(encoded, profile))
}
