/** The compression policy: decides from facts about a file how to compress it. Pure. Reasons: docs/decisions/010. */
import type { ImageType } from '../../protocol.ts'
import type { Fallback, Mode } from '../types.ts'

/** `rgb` and `gray` apply to files of that kind. `unusable`: broken, or of another colour space. */
export type ProfileKind = 'none' | 'srgb' | 'rgb' | 'gray' | 'unusable'

export interface JpegFacts {
  /** Baseline, extended or progressive Huffman coding, which every decoder supports. */
  isStandardCoding: boolean
  /** Unit: bits per sample. */
  precision: number
  components: number
  /** Chroma has as many samples as luma. */
  fullChroma: boolean
  /** Chroma has half as many samples as luma in both directions (4:2:0). */
  halfChroma: boolean
  /** Sum of the 64 entries of the luma quantisation table. Large if the file is already strongly compressed. */
  lumaTableSum: number
  /** Written by this engine. */
  isOwnOutput: boolean
  /**
   * `preservable`: an HDR gain map that can be attached to a new base image. `unsupported`: an unknown kind of gain map, or
   * another embedded image that isn't a preview.
   */
  gainMap: 'none' | 'preservable' | 'unsupported'
  /** Exif orientation. */
  orientation: number
  profile: ProfileKind
}

export interface PngFacts {
  /** Unit: bits per channel. */
  bitDepth: number
  /** Colours are described by cICP, or by gAMA/cHRM other than sRGB, which WebP and JPEG can't represent. */
  specialColour: boolean
  /** Orientation from eXIf. */
  orientation: number
  profile: ProfileKind
}

export interface Facts {
  type: ImageType
  /** As displayed. */
  width: number
  height: number
  animated: boolean
  jpeg?: JpegFacts
  png?: PngFacts
}

export interface Capabilities {
  webAssembly: boolean
  /** Decoding a larger image may exceed the device's memory. */
  maxPixels: number
}

export type Plan =
  | { kind: 'keep' }
  | { kind: 'scrub'; fallback?: Fallback }
  | {
      kind: 'jpeg'
      fullChroma: boolean
      restoreChroma: boolean
      gray: boolean
      keepProfile: boolean
      keepGainMap: boolean
    }
  | { kind: 'png'; mayBeWebp: boolean; mayBeJpeg: boolean; keepProfile: boolean }

/** About libjpeg quality 81, and below the sums of this engine's output. At or above it, recompressing gains almost nothing. */
const EFFICIENT_TABLE_SUM = 1400

/** Decoding and encoding take 25 to 32 bytes per pixel. */
export const MAX_PIXELS = 100_000_000
export const MAX_PIXELS_SMALL_MEMORY = 24_000_000

/** VP8L stores each dimension in 14 bits. */
export const MAX_WEBP_SIDE = 16_383

export function planFor(facts: Facts, mode: Mode, capabilities: Capabilities): Plan {
  const { type, animated, jpeg, png, width, height } = facts
  if (type === 'image/gif' || mode === 'original') return { kind: 'keep' }
  if (animated) return { kind: 'scrub' }
  const plan = jpeg ? planForJpeg(jpeg, mode) : png ? planForPng(png, mode, facts) : null
  if (plan === null) return { kind: 'scrub' }
  if (!capabilities.webAssembly) return { kind: 'scrub', fallback: 'no-webassembly' }
  if (width * height > capabilities.maxPixels) return { kind: 'scrub', fallback: 'too-many-pixels' }
  return plan
}

function planForJpeg(jpeg: JpegFacts, mode: Mode): Plan | null {
  if (mode === 'lossless') return null
  const gray = jpeg.components === 1
  if (!jpeg.isStandardCoding || jpeg.precision !== 8 || !(gray || jpeg.components === 3)) return null
  if (jpeg.gainMap === 'unsupported' || jpeg.isOwnOutput || jpeg.lumaTableSum >= EFFICIENT_TABLE_SUM)
    return null
  const fits = jpeg.profile === (gray ? 'gray' : 'rgb')
  if (!fits && jpeg.profile !== 'none' && jpeg.profile !== 'srgb') return null
  const { fullChroma, halfChroma } = jpeg
  const keepGainMap = jpeg.gainMap === 'preservable'
  // A gain map is computed in the profile's colours, so its profile stays even if it is the default, sRGB.
  const keepProfile = fits || (keepGainMap && jpeg.profile === 'srgb')
  return { kind: 'jpeg', fullChroma, restoreChroma: halfChroma && !gray, gray, keepProfile, keepGainMap }
}

function planForPng(png: PngFacts, mode: Mode, { width, height }: Facts): Plan {
  const convertible =
    mode !== 'keep-format' &&
    png.bitDepth <= 8 &&
    !png.specialColour &&
    (png.profile === 'none' || png.profile === 'srgb' || png.profile === 'rgb') &&
    Math.max(width, height) <= MAX_WEBP_SIDE
  return {
    kind: 'png',
    mayBeWebp: convertible,
    mayBeJpeg: convertible && mode === 'auto',
    keepProfile: png.profile === 'rgb',
  }
}

/** A JPEG loses a generation of quality, so the result must be noticeably smaller. */
const WORTH_A_GENERATION = 0.9

/** Whether a recompressed JPEG replaces its input. Unit: bytes. */
export function worthRecompressing(bytesIn: number, bytesOut: number): boolean {
  return bytesOut <= WORTH_A_GENERATION * bytesIn
}

const PHOTO_BITS_PER_PIXEL = 6
const PHOTO_MIN_PIXELS = 250_000

/** Whether an opaque PNG looks like a photograph: lossless coding finds no structure in its pixels. Unit: bytes, pixels. */
export function looksLikePhoto(losslessBytes: number, pixels: number): boolean {
  return pixels > PHOTO_MIN_PIXELS && (losslessBytes * 8) / pixels > PHOTO_BITS_PER_PIXEL
}

/** Above this, a sample is encoded first, since lossless coding takes most of a second per megapixel. Unit: pixels. */
const QUICK_WEBP_PIXELS = 2_000_000
/** Safety margin: samples of 36 photographs took 0.92 to 1.14 times as many bits per pixel as the whole. */
const SURE = 1.25

/** Whether to encode a sample losslessly before the whole image. Unit: pixels. */
export function shouldTrySample(pixels: number): boolean {
  return pixels > QUICK_WEBP_PIXELS
}

/** Whether a sample proves that the whole image `looksLikePhoto`. Arguments describe the sample. Unit: bytes, pixels. */
export function isSurelyPhoto(webpBytes: number, pixels: number): boolean {
  return (webpBytes * 8) / pixels > SURE * PHOTO_BITS_PER_PIXEL
}

/** Whether a sample proves the contrary. Arguments describe the sample. Unit: bytes, pixels. */
export function isSurelyNoPhoto(webpBytes: number, pixels: number): boolean {
  return (webpBytes * 8) / pixels < PHOTO_BITS_PER_PIXEL / SURE
}

const WORTH_A_NEW_TYPE = 0.85
/** If few bytes are saved, they must be a third of the file. */
const WORTH_A_NEW_TYPE_SMALL = 0.67
const SMALL_SAVING_BYTES = 8 * 1024

/** Whether lossless WebP is enough smaller than PNG to justify a change of type. Unit: bytes. */
export function worthWebp(webpBytes: number, pngBytes: number): boolean {
  const isSmall = pngBytes - webpBytes < SMALL_SAVING_BYTES
  return webpBytes <= (isSmall ? WORTH_A_NEW_TYPE_SMALL : WORTH_A_NEW_TYPE) * pngBytes
}

/** Below this, the best lossless encoding takes no time. Unit: pixels. */
const QUICK_WEBP_MIN_PIXELS = 500_000
/** Size of a quick lossless WebP relative to the best one, at most, as estimated from a sample. */
export const MAX_QUICK_WEBP = 1.25

/** Whether a quick lossless encoding may save enough time. Unit: pixels. */
export function mayBeQuick(pixels: number): boolean {
  return pixels > QUICK_WEBP_MIN_PIXELS
}

/** Best case of oxipng on the output of an ordinary program: half the size. */
const BEST_REPACKING = 0.5
/** Above this, repacking a PNG takes longer than the last bytes are worth. Unit: pixels. */
const QUICK_REPACKING_PIXELS = 2_000_000
const THOROUGH_REPACKING_PIXELS = 4_000_000

/**
 * Whether the repacked PNG could still be preferred to WebP. For a large image WebP is only compared with the input, because
 * repacking takes a second per megapixel. Unit: bytes, pixels.
 */
export function pngMayBeatWebp(webpBytes: number, pngBytes: number, pixels: number): boolean {
  const repacked = pixels <= QUICK_REPACKING_PIXELS ? BEST_REPACKING * pngBytes : pngBytes
  return !worthWebp(webpBytes, repacked)
}

/**
 * oxipng level. Level 2 takes up to 2 s per megapixel, 1 half of that, 0 a sixth; each step down costs 5 to 20 % in size. If
 * WebP has already been tried, a large PNG gets the fastest level.
 */
export function repackingLevel(pixels: number, webpWasTried: boolean): 0 | 1 | 2 {
  if (pixels <= THOROUGH_REPACKING_PIXELS) return 2
  return webpWasTried ? 0 : 1
}

/** Below this, repacking takes no longer than estimating its gain. Unit: pixels. */
const LARGE_PNG_PIXELS = 500_000
/** An estimate from the first rows is off by a few percent. For a well-packed file it is 1.00. */
const WORTH_REPACKING = 0.98

export function shouldEstimateRepacking(pixels: number): boolean {
  return pixels > LARGE_PNG_PIXELS
}

/** Whether the first rows predict a gain that justifies seconds of repacking. Unit: bytes. */
export function worthRepacking(repackedBytes: number, bytes: number): boolean {
  return repackedBytes <= WORTH_REPACKING * bytes
}
