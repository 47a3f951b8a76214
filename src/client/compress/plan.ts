/** The compression policy: what to do with a file, from facts about it. Pure. Reasons: docs/decisions/010. */
import type { ImageType } from '../../protocol.ts'
import type { Fallback, Mode } from '../types.ts'

/** `rgb` and `gray` fit files of that kind. `unfit` is broken, or of another colour space. */
export type ProfileKind = 'none' | 'srgb' | 'rgb' | 'gray' | 'unfit'

export interface JpegFacts {
  /** Baseline, extended or progressive Huffman: what every decoder reads. */
  ordinary: boolean
  /** Unit: bits a sample. */
  precision: number
  components: number
  /** Chroma has as many samples as luma. */
  fullChroma: boolean
  /** Chroma has half as many samples as luma in both directions (4:2:0). */
  halfChroma: boolean
  /** Sum of the 64 entries of the luma quantisation table: large for a file that is already small. */
  lumaTableSum: number
  /** Written by this engine before. */
  ownWork: boolean
  /** An HDR gain map that a new base can keep; or one that is not understood, or another picture that is not a preview. */
  gainMap: 'none' | 'kept' | 'strange'
  /** Turned or mirrored by Exif. */
  orientation: number
  profile: ProfileKind
}

export interface PngFacts {
  /** Unit: bits a channel. */
  bitDepth: number
  /** Colours are described by cICP, or by gAMA/cHRM other than sRGB's: WebP and JPEG would lose that. */
  specialColour: boolean
  /** Turned or mirrored by eXIf. */
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

export interface Means {
  webAssembly: boolean
  /** Decoding more would take memory that the device may not have. */
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

/** About libjpeg's quality 81, and less than this engine's own output: recompressing gains next to nothing. */
const EFFICIENT_TABLE_SUM = 1400

/** Decode and encode take 25 to 32 bytes a pixel. */
export const MAX_PIXELS = 100_000_000
export const MAX_PIXELS_SMALL_MEMORY = 24_000_000

/** VP8L stores 14 bits for a side. */
export const MAX_WEBP_SIDE = 16_383

export function planFor(facts: Facts, mode: Mode, means: Means): Plan {
  const { type, animated, jpeg, png, width, height } = facts
  if (type === 'image/gif' || mode === 'original') return { kind: 'keep' }
  if (animated) return { kind: 'scrub' }
  const wished = jpeg ? planForJpeg(jpeg, mode) : png ? planForPng(png, mode, facts) : null
  if (wished === null) return { kind: 'scrub' }
  if (!means.webAssembly) return { kind: 'scrub', fallback: 'no-webassembly' }
  if (width * height > means.maxPixels) return { kind: 'scrub', fallback: 'too-many-pixels' }
  return wished
}

function planForJpeg(jpeg: JpegFacts, mode: Mode): Plan | null {
  if (mode === 'lossless') return null
  const gray = jpeg.components === 1
  if (!jpeg.ordinary || jpeg.precision !== 8 || !(gray || jpeg.components === 3)) return null
  if (jpeg.gainMap === 'strange' || jpeg.ownWork || jpeg.lumaTableSum >= EFFICIENT_TABLE_SUM) return null
  const fits = jpeg.profile === (gray ? 'gray' : 'rgb')
  if (!fits && jpeg.profile !== 'none' && jpeg.profile !== 'srgb') return null
  const { fullChroma, halfChroma } = jpeg
  const keepGainMap = jpeg.gainMap === 'kept'
  // A gain map is computed in the profile's colours: it stays, even if it says what is meant anyway.
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

/** A JPEG gives up a generation of quality: only for a real gain. */
const WORTH_A_GENERATION = 0.9

/** Whether a recompressed JPEG replaces its input. Unit: bytes. */
export function worthRecompressing(bytesIn: number, bytesOut: number): boolean {
  return bytesOut <= WORTH_A_GENERATION * bytesIn
}

const PHOTO_BITS_PER_PIXEL = 6
const PHOTO_MIN_PIXELS = 250_000

/** Whether the pixels of an opaque PNG are a photograph: lossless coding finds no structure in them. Unit: bytes. */
export function looksLikePhoto(webpBytes: number, pixels: number): boolean {
  return pixels > PHOTO_MIN_PIXELS && (webpBytes * 8) / pixels > PHOTO_BITS_PER_PIXEL
}

/** Above this, a sample is asked first: lossless coding takes most of a second a megapixel. Unit: pixels. */
const QUICK_WEBP_PIXELS = 2_000_000
/** Samples of 36 photographs took from 0.92 to 1.14 of the bits that the whole takes. */
const SURE = 1.25

/** Whether the lossless coding of a sample is worth trying before that of the whole. Unit: pixels. */
export function samplePays(pixels: number): boolean {
  return pixels > QUICK_WEBP_PIXELS
}

/** Whether a sample leaves no doubt that the whole `looksLikePhoto`. Arguments are of the sample. Unit: bytes, pixels. */
export function isSurelyPhoto(webpBytes: number, pixels: number): boolean {
  return (webpBytes * 8) / pixels > SURE * PHOTO_BITS_PER_PIXEL
}

const WORTH_A_NEW_TYPE = 0.85
/** Where next to nothing is saved, it must be a third. */
const WORTH_A_NEW_TYPE_SMALL = 0.67
const SMALL_SAVING_BYTES = 8 * 1024

/** Whether lossless WebP is so much smaller than PNG that people should get another type. Unit: bytes. */
export function worthWebp(webpBytes: number, pngBytes: number): boolean {
  const isSmall = pngBytes - webpBytes < SMALL_SAVING_BYTES
  return webpBytes <= (isSmall ? WORTH_A_NEW_TYPE_SMALL : WORTH_A_NEW_TYPE) * pngBytes
}

/** What oxipng may make of a PNG that an ordinary program wrote, at best: half of what it was. */
const BEST_REPACKING = 0.5
/** Above this, packing a PNG anew takes longer than its last bytes are worth. Unit: pixels. */
const QUICK_REPACKING_PIXELS = 2_000_000
const THOROUGH_REPACKING_PIXELS = 4_000_000

/**
 * Whether packing the PNG anew can still keep WebP from being chosen. In a large picture WebP need only be worth it
 * against the file as it came: trying takes a second a megapixel. Unit: bytes.
 */
export function pngMayWin(webpBytes: number, pngBytes: number, pixels: number): boolean {
  const repacked = pixels <= QUICK_REPACKING_PIXELS ? BEST_REPACKING * pngBytes : pngBytes
  return !worthWebp(webpBytes, repacked)
}

/**
 * oxipng's level. 2 takes up to 2 s a megapixel, 1 half of that, 0 a sixth; each gives up 5 to 20 % of the bytes. Where
 * WebP was tried already, no time is left for the PNG of a large picture.
 */
export function repackingLevel(pixels: number, webpWasTried: boolean): 0 | 1 | 2 {
  if (pixels <= THOROUGH_REPACKING_PIXELS) return 2
  return webpWasTried ? 0 : 1
}

/** Below this, packing takes no longer than asking whether it pays. Unit: pixels. */
const LARGE_PNG_PIXELS = 500_000
/** An estimate by the first rows is wrong by some hundredths; of what was packed with care it says 1.00. */
const WORTH_REPACKING = 0.98

export function estimateOfRepackingPays(pixels: number): boolean {
  return pixels > LARGE_PNG_PIXELS
}

/** Whether the first rows promise that the whole becomes smaller by enough to spend seconds on. Unit: bytes. */
export function worthRepacking(repackedBytes: number, bytes: number): boolean {
  return repackedBytes <= WORTH_REPACKING * bytes
}
