/** Chooses a photograph's JPEG quality from an encoded sample. Pure. Figures: bench/compress.md. */
import type { TextureLoss } from './texture-loss.ts'

/** mozjpeg qualities for luma and chroma. */
export interface JpegQuality {
  luma: number
  chroma: number
}

/** Quality for encoding samples. */
export const USUAL_QUALITY = 82
export const FINEST_QUALITY = 90
export const COARSEST_QUALITY = 76

/** Quality that programs commonly request from a browser's own encoder, e.g. compressorjs. */
export const BROWSER_QUALITY = 80

/** Share of fine colour (`fineColourShare`) above which chroma keeps its resolution. */
const FINE_COLOUR = 0.01
/** Full-resolution chroma has four times the samples, which makes up for a quality lower by this much in photographs. */
const FULL_CHROMA_STEP = 24
/** Share of fine colour above which an image is more drawing or text than photograph: its chroma needs the quality of its luma. */
const MUCH_FINE_COLOUR = 0.05

/** Estimates for the whole image from a sample, with 4:2:0 chroma. */
export interface Sample {
  /** Size of the whole image at `USUAL_QUALITY`. Unit: bytes. */
  bytes: number
  loss: TextureLoss
  /** The same estimates for a browser's encoder at `BROWSER_QUALITY`. */
  browserBytes: number
  browserLoss: TextureLoss
}

/** Expected SSIMULACRA2 score of the whole image at `USUAL_QUALITY`; within 2 points for two thirds of images. */
function expectedScore({ loss }: Sample): number {
  return Math.min(95, 75.4 - 2.66 * Math.log(Math.max(loss.structure, 1e-6)) - 114 * loss.contrast)
}

/** Size budget relative to a browser's encoder. Low enough that no result exceeds it, given the sample's error of 2 %. */
const SHARE_OF_BROWSER = 0.985
const BYTES_PER_STEP = 1.046
const SCORE_PER_STEP = 0.75

/** Below the first score, fine texture suffers a little and may use the rest of the browser's budget; below the second, more. */
const TEXTURED_SCORE = 79
const VERY_TEXTURED_SCORE = 77
const STEPS_PER_SCORE = 1.5
const MAX_STEPS = 6

/** Size that pages load quickly. A larger photograph gives up invisible quality. Unit: bytes. */
const LARGE_BYTES = 600_000
const ENOUGH_SCORE = 79

/** Spends slightly fewer bytes than a browser's encoder would, for 1 to 3 more points of SSIMULACRA2. */
export function qualityFor(sample: Sample, fineColour: number): JpegQuality {
  const luma = lumaFor(sample)
  return keepsChroma(fineColour) ? withFullChroma(luma, fineColour) : { luma, chroma: luma }
}

export function keepsChroma(fineColour: number): boolean {
  return fineColour > FINE_COLOUR
}

/** JPEG quality for a photograph stored as PNG. Its chroma is not subsampled, since every later copy derives from this one. */
export function photoPngQuality(fineColour: number): JpegQuality {
  return withFullChroma(88, fineColour)
}

function withFullChroma(luma: number, fineColour: number): JpegQuality {
  return { luma, chroma: fineColour > MUCH_FINE_COLOUR ? luma : luma - FULL_CHROMA_STEP }
}

function lumaFor(sample: Sample): number {
  const ratio = (SHARE_OF_BROWSER * sample.browserBytes) / sample.bytes
  const steps = clampSteps(Math.log(ratio) / Math.log(BYTES_PER_STEP))
  const score = expectedScore(sample) + SCORE_PER_STEP * steps
  if (score < TEXTURED_SCORE) {
    const more = STEPS_PER_SCORE * Math.max(0, VERY_TEXTURED_SCORE - score)
    return qualityAt(steps + Math.min(1, TEXTURED_SCORE - score) + Math.min(more, MAX_STEPS - 1))
  }
  const bytes = sample.bytes * BYTES_PER_STEP ** steps
  const excessSteps = Math.log(bytes / LARGE_BYTES) / Math.log(BYTES_PER_STEP)
  const spare = (score - ENOUGH_SCORE) / SCORE_PER_STEP
  return qualityAt(steps - Math.max(0, Math.min(excessSteps, spare)))
}

function clampSteps(steps: number): number {
  return Math.min(FINEST_QUALITY - USUAL_QUALITY, Math.max(COARSEST_QUALITY - USUAL_QUALITY, steps))
}

const qualityAt = (steps: number) => USUAL_QUALITY + Math.floor(clampSteps(steps))

/**
 * Whether a browser's encoder wrote the image. Re-encoding with the same quantisation loses almost nothing; any other loses much.
 */
export function isBrowserEncoded({ loss, browserLoss }: Sample): boolean {
  return browserLoss.meanError < 0.8 * loss.meanError
}

/** mozjpeg's table 2 at quality 50, in zigzag order. */
// biome-ignore format: as a table
const BASE = [
  12, 17, 18, 19, 20, 20, 21, 20, 20, 26, 31, 26, 21, 26, 30, 34, 28, 26, 26, 33, 40, 46, 35, 36, 30, 33, 51, 56, 63, 61, 58, 46,
  40, 46, 66, 68, 90, 76, 62, 46, 87, 69, 55, 55, 86, 96, 81, 86, 90, 96, 102, 100, 100, 66, 73, 111, 121, 113, 102, 120, 91, 101,
  105, 103,
]

/** Quantisation steps at a quality, in zigzag order, scaled as jpeg_set_quality does (jcparam.c). */
export function stepsAt(quality: number): Uint16Array {
  const scale = quality < 50 ? 5000 / quality : 200 - 2 * quality
  return Uint16Array.from(BASE, (step) => Math.min(255, Math.max(1, Math.floor((step * scale + 50) / 100))))
}

/** Size and loss of an image, as estimated from a sample. */
export interface Trial {
  /** Of `stepsAt`. */
  quality: number
  loss: TextureLoss
  /** Of the whole image. */
  bytes: number
}

/** Qualities to try on a sample before choosing one by `quickQuality`. */
export const TRIAL_QUALITIES = [74, 88] as const
const COARSEST_QUICK_QUALITY = 70
const FINEST_QUICK_QUALITY = 86
/** Expected SSIMULACRA2 scores: of most photographs, and of one that would exceed `LARGE_BYTES`. */
const QUICK_SCORE = 82
const LARGE_QUICK_SCORE = 80

/** Loss at the lower trial quality that photographs hardly ever exceed. Noise, halftone, pixel art and coloured text do. */
const PHOTO_CONTRAST_LOSS = 0.14
const PHOTO_MEAN_ERROR = 6.5
/** Of the luma's error and the square of the chroma's. */
const PHOTO_ERROR_PRODUCT = 28

export interface QuickQuality {
  quality: number
  /** Otherwise chroma needs the quality of luma. */
  isPhoto: boolean
}

/**
 * Quality for `quickJpeg`. `low`, `high`: trials at `TRIAL_QUALITIES`. `colourError`: of chroma at the lower of them. Fitted to 36
 * photographs of the tuning half.
 */
export function quickQuality(low: Trial, high: Trial, colourError: number): QuickQuality {
  const { contrast, meanError } = low.loss
  const isPhoto =
    contrast <= PHOTO_CONTRAST_LOSS &&
    meanError <= PHOTO_MEAN_ERROR &&
    meanError * colourError ** 2 <= PHOTO_ERROR_PRODUCT
  return { quality: isPhoto ? photoQuality(low, high) : FINEST_QUALITY, isPhoto }
}

function photoQuality(low: Trial, high: Trial): number {
  const score = ({ quality, loss: { structure, contrast, meanError } }: Trial) =>
    37.8 - 4.28 * log(structure) - 102.6 * contrast + 3.02 * log(meanError) + 0.369 * quality
  const qualityFor = (wanted: number, at: (trial: Trial) => number) => {
    const slope = (at(high) - at(low)) / (high.quality - low.quality)
    return slope > 0 ? low.quality + (wanted - at(low)) / slope : high.quality
  }
  const good = qualityFor(QUICK_SCORE, score)
  const small = qualityFor(log(LARGE_BYTES), ({ bytes }) => log(bytes))
  const chosen = Math.min(good, Math.max(small, qualityFor(LARGE_QUICK_SCORE, score)))
  return Math.min(FINEST_QUICK_QUALITY, Math.max(COARSEST_QUICK_QUALITY, Math.round(chosen)))
}

const log = (value: number) => Math.log(Math.max(value, 1e-6))

/** Whether this engine wrote the file, judged by its luma quantisation steps, in zigzag order. */
export function areOwnSteps(steps: ArrayLike<number>): boolean {
  for (let quality = COARSEST_QUICK_QUALITY; quality <= FINEST_QUALITY; quality++) {
    if (stepsAt(quality).every((step, index) => steps[index] === step)) return true
  }
  return false
}
