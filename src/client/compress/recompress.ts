/** Carries out a plan. Runs in a worker. */
import { joined } from '../../bytes.ts'
import { sourceOf } from '../../formats/image.ts'
import { withGainMapOf } from '../../formats/jpeg/gain-map.ts'
import { walkJpeg } from '../../formats/jpeg/walk.ts'
import { type ImageType, PREVIEW_MAX_BYTES } from '../../protocol.ts'
import type { Action, Line } from '../types.ts'
import { fineColourShows, restoreChroma } from './chroma.ts'
import type { Codecs } from './codecs.ts'
import { withJpegProfile } from './jpeg-profile.ts'
import {
  BROWSER_QUALITY,
  PHOTO_PNG_QUALITY,
  qualityFor,
  type Sample,
  USUAL_QUALITY,
  wasBrowsersWork,
} from './jpeg-quality.ts'
import { isOpaque, oriented, type Pixels, sampled } from './pixels.ts'
import {
  estimateOfRepackingPays,
  isSurelyPhoto,
  looksLikePhoto,
  type Plan,
  pngMayWin,
  repackingLevel,
  samplePays,
  worthRecompressing,
  worthRepacking,
  worthWebp,
} from './plan.ts'
import type { MadePreview } from './preview.ts'
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
  /** Exif orientation of the pixels as they are stored. */
  orientation: number
}

/** What is told while the work goes on. */
export interface Milestones {
  /** How fast this machine is. Unit: milliseconds. */
  decoded(milliseconds: number): void
  /** A result that is worth the change, while a better one is looked for. */
  interim(result: Recompressed): Promise<void>
  /** The picture as displayed, where what is sent will be so large that it needs a preview, and the profile of its colours. */
  picture(pixels: Pixels, profile: Uint8Array | null): Promise<void>
  /** A preview that was made on the way. */
  preview(made: MadePreview): Promise<void>
}

/** `null` if nothing smaller came out that is worth the change. Throws what a codec throws. */
export function recompress(
  plan: Plan & { kind: 'jpeg' | 'png' },
  original: Original,
  codecs: Codecs,
  milestones: Milestones,
): Promise<Recompressed | null> {
  if (plan.kind === 'jpeg') return fromJpeg(plan, original, codecs, milestones)
  return fromPng(plan, original, codecs, milestones)
}

/**
 * The same for a photograph that somebody waits for, without a codec of ours. `null` where the best way is to be taken, or for
 * what is no photograph. `haste`: what the result waits for; when it came, by this worker's clock.
 */
export async function recompressQuickly(
  plan: Plan & { kind: 'jpeg' | 'png' },
  { scrubbed, profile, orientation }: Original,
  haste: { line: Line; start: number },
  { preview }: Pick<Milestones, 'preview'>,
): Promise<{ result: Recompressed | null } | null> {
  if (plan.kind === 'png' || plan.gray || plan.keepGainMap) return null
  const kept = plan.keepProfile ? profile : null
  const traits = { profile: kept, fullChroma: plan.fullChroma, isTurned: orientation !== 1 }
  const quick = await quickJpeg(scrubbed, traits, haste)
  if (quick === null) return null
  if (quick.preview) await preview(quick.preview)
  // What it would not make small enough is not worth a generation of quality either.
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
  const kept = plan.keepProfile ? profile : null
  const decoding = codecs.decodeJpeg(scrubbed, plan.keepGainMap ? 'stored' : 'displayed')
  const pixels = await timed(decoding, milestones)
  const fullChroma = plan.fullChroma && !plan.gray && fineColourShows(pixels)
  if (plan.restoreChroma) restoreChroma(pixels)
  const base = await photoOf(pixels, { fullChroma, gray: plan.gray, profile: kept }, codecs)
  const bytes = plan.keepGainMap ? await withGainMap(base, scrubbed) : base
  const result = bytes && worthRecompressing(scrubbed.length, bytes.length) ? jpegOf(bytes) : null
  if ((result?.bytes ?? scrubbed).length > PREVIEW_MAX_BYTES)
    await milestones.picture(plan.keepGainMap ? oriented(pixels, orientation) : pixels, kept)
  return result
}

function jpegOf(bytes: Uint8Array<ArrayBuffer>): Recompressed {
  return { bytes, type: 'image/jpeg', action: 'lossy' }
}

/** A photograph as JPEG, as finely as a sample of it says. */
export async function photoOf(
  pixels: Pixels,
  { fullChroma, gray, profile }: { fullChroma: boolean; gray: boolean; profile: Uint8Array | null },
  codecs: Codecs,
): Promise<Uint8Array<ArrayBuffer>> {
  const sample = await sampleOf(pixels, { gray }, codecs)
  const encoded =
    !fullChroma && wasBrowsersWork(sample)
      ? await codecs.encodeJpeg(pixels, { ...AS_BROWSERS, gray })
      : await codecs.encodeJpeg(pixels, { quality: qualityFor(sample, { fullChroma }), fullChroma, gray })
  return withJpegProfile(encoded, profile)
}

/** The map is laid over the pixels as they are stored: the base is stored, and turned, as it was. */
async function withGainMap(base: Uint8Array, original: Uint8Array): Promise<Uint8Array<ArrayBuffer> | null> {
  const { segments } = await walkJpeg(sourceOf(original))
  const exif = segments.find(({ kind }) => kind === 'exif')
  if (!exif) return withGainMapOf(base, sourceOf(original))
  // No more than the orientation, once it was scrubbed. Exif stands first, right behind SOI (Exif 3.0, 4.5.4).
  const segment = original.subarray(exif.offset, exif.offset + exif.length)
  return withGainMapOf(joined(base.subarray(0, 2), segment, base.subarray(2)), sourceOf(original))
}

const AS_BROWSERS = {
  quality: { luma: BROWSER_QUALITY, chroma: BROWSER_QUALITY },
  fullChroma: false,
  plain: true,
}

/** Encodes an eighth of the picture twice, to learn what it takes and loses: with this engine's settings, and a browser's. */
async function sampleOf(pixels: Pixels, { gray }: { gray: boolean }, codecs: Codecs): Promise<Sample> {
  const sample = sampled(pixels)
  const times = (pixels.width * pixels.height) / (sample.width * sample.height)
  const quality = { luma: USUAL_QUALITY, chroma: USUAL_QUALITY }
  const own = await codecs.encodeJpeg(sample, { quality, fullChroma: false, gray })
  const browsers = await codecs.encodeJpeg(sample, { ...AS_BROWSERS, gray })
  return {
    bytes: own.length * times,
    loss: textureLossOf(sample, await codecs.decodeJpeg(own)),
    browserBytes: browsers.length * times,
    browserLoss: textureLossOf(sample, await codecs.decodeJpeg(browsers)),
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
    const last = async (result: Recompressed) => {
      if (result.bytes.length > PREVIEW_MAX_BYTES) await milestones.picture(pixels, kept)
      return result
    }
    const mayBePhoto = plan.mayBeJpeg && isOpaque(pixels)
    if (mayBePhoto && samplePays(area)) {
      const sample = sampled(pixels)
      const { length } = await codecs.encodeWebp(sample)
      if (isSurelyPhoto(length, sample.width * sample.height)) {
        const photo = await photoOfPng(pixels, kept, codecs)
        if (photo.bytes.length < scrubbed.length) return last(photo)
      }
    }
    webp = { bytes: await webpOf(pixels, kept, codecs), type: 'image/webp', action: 'lossless' }
    if (mayBePhoto && looksLikePhoto(webp.bytes.length, area)) {
      const photo = await photoOfPng(pixels, kept, codecs)
      if (photo.bytes.length < Math.min(webp.bytes.length, scrubbed.length)) return last(photo)
    }
    if (!pngMayWin(webp.bytes.length, scrubbed.length, area)) return last(webp)
    // Now, for packing may end before its time.
    await milestones.picture(pixels, kept)
    if (worthWebp(webp.bytes.length, scrubbed.length)) await milestones.interim(webp)
  }
  const png = await packedAnew(scrubbed, area, repackingLevel(area, plan.mayBeWebp), codecs)
  return webp && worthWebp(webp.bytes.length, png?.bytes.length ?? scrubbed.length) ? webp : png
}

/** `null` if it became no smaller, or if the start of a large picture says that it will not. */
async function packedAnew(
  scrubbed: Uint8Array,
  area: number,
  level: 0 | 1 | 2,
  codecs: Codecs,
): Promise<Recompressed | null> {
  if (estimateOfRepackingPays(area)) {
    const { stripOf } = await import('./png-strip.ts')
    const strip = await stripOf(scrubbed)
    const repacked = strip && (await codecs.optimisePng(strip.png, level)).length
    if (repacked !== null && !worthRepacking(repacked, strip!.bytes)) return null
  }
  const bytes = await codecs.optimisePng(scrubbed, level)
  return bytes.length < scrubbed.length ? { bytes, type: 'image/png', action: 'lossless' } : null
}

/** Without loss. */
export async function webpOf(
  pixels: Pixels,
  profile: Uint8Array | null,
  codecs: Codecs,
): Promise<Uint8Array<ArrayBuffer>> {
  return withWebpProfile(await codecs.encodeWebp(pixels), profile, pixels)
}

async function photoOfPng(pixels: Pixels, profile: Uint8Array | null, codecs: Codecs): Promise<Recompressed> {
  const encoded = await codecs.encodeJpeg(pixels, {
    quality: PHOTO_PNG_QUALITY,
    fullChroma: true,
    gray: false,
  })
  return jpegOf(withJpegProfile(encoded, profile))
}
