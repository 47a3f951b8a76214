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

/** For photographs that arrive as PNG, always with full chroma: the first lossy generation is the source of all later ones. */
export const PHOTO_PNG_QUALITY: JpegQuality = { luma: 88, chroma: 64 }

/** Full-resolution chroma has four times the samples, which makes up for a quality lower by this much. */
const FULL_CHROMA_STEP = 24

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
  return expectedScoreOf(loss)
}

function expectedScoreOf(loss: TextureLoss): number {
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
export function qualityFor(sample: Sample, { fullChroma }: { fullChroma: boolean }): JpegQuality {
  const luma = lumaFor(sample)
  return { luma, chroma: fullChroma ? luma - FULL_CHROMA_STEP : luma }
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

/** How much lower a browser's encoder scores at `BROWSER_QUALITY` than `expectedScoreOf` predicts for ours. */
const QUICK_LOSS = 2.3
const QUICK_SCORE_PER_STEP = 0.55
const QUICK_BYTES_PER_STEP = 1.03
/** Target score. Below it fine texture suffers; above it a large photograph has invisible quality. */
const QUICK_SCORE = 77
const MAX_QUICK_STEPS_UP = 6
const MAX_QUICK_STEPS_DOWN = 14

/** Quality to request from a browser's own encoder, 0 to 1. `loss` and `bytes` describe the image at `BROWSER_QUALITY`. */
export function quickQuality(loss: TextureLoss, bytes: number): number {
  const spare = (expectedScoreOf(loss) - QUICK_LOSS - QUICK_SCORE) / QUICK_SCORE_PER_STEP
  const excessSteps = Math.log(bytes / LARGE_BYTES) / Math.log(QUICK_BYTES_PER_STEP)
  const down = Math.min(spare, excessSteps, MAX_QUICK_STEPS_DOWN)
  const up = Math.min(-spare, MAX_QUICK_STEPS_UP)
  const steps = down > 0 ? -down : Math.max(0, up)
  return (BROWSER_QUALITY + Math.round(steps)) / 100
}
