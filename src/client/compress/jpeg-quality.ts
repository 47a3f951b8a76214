/** How finely a photograph is encoded, by what a sample of it tells. Pure. Figures: bench/compress.md. */
import type { TextureLoss } from './texture-loss.ts'

/** mozjpeg's, of brightness and of colour. */
export interface JpegQuality {
  luma: number
  chroma: number
}

/** What samples are encoded with. */
export const USUAL_QUALITY = 82
export const FINEST_QUALITY = 90
export const COARSEST_QUALITY = 76

/** What programs ask a browser's own encoder for, e.g. compressorjs. */
export const BROWSER_QUALITY = 80

/**
 * For photographs that arrive as PNG, always with full chroma: nothing was lost yet, and this is the generation that
 * all later ones start from.
 */
export const PHOTO_PNG_QUALITY: JpegQuality = { luma: 88, chroma: 64 }

/** Twice as many colour samples in both directions make up for steps that are so much coarser. */
const FULL_CHROMA_STEP = 24

/** What a sample says of the whole picture, with colour halved. */
export interface Sample {
  /** Size of the whole picture at `USUAL_QUALITY`. Unit: bytes. */
  bytes: number
  loss: TextureLoss
  /** The same as a browser encodes it at `BROWSER_QUALITY`. */
  browserBytes: number
  browserLoss: TextureLoss
}

/** SSIMULACRA2 that the whole will have at `USUAL_QUALITY`, to within 2 for two pictures of three. */
function expectedScore({ loss }: Sample): number {
  return expectedScoreOf(loss)
}

function expectedScoreOf(loss: TextureLoss): number {
  return Math.min(95, 75.4 - 2.66 * Math.log(Math.max(loss.worst, 1e-6)) - 114 * loss.faded)
}

/** Share of a browser's bytes: small enough that none is larger, for a sample is wrong by 2 %. */
const SHARE_OF_BROWSER = 0.985
const BYTES_PER_STEP = 1.046
const SCORE_PER_STEP = 0.75

/** Below the first, fine texture suffers a little, and gets what is left of a browser's bytes; below the second, more. */
const TEXTURED_SCORE = 79
const VERY_TEXTURED_SCORE = 77
const STEPS_PER_SCORE = 1.5
const MAX_STEPS = 6

/** What a page loads at once. A larger photograph gives up what is not seen. Unit: bytes. */
const LARGE_BYTES = 600_000
const ENOUGH_SCORE = 79

/**
 * A photograph takes what a browser would spend on it, a little less, and looks better for it: by 1 to 3 points of
 * SSIMULACRA2.
 */
export function qualityFor(sample: Sample, { fullChroma }: { fullChroma: boolean }): JpegQuality {
  const luma = lumaFor(sample)
  return { luma, chroma: fullChroma ? luma - FULL_CHROMA_STEP : luma }
}

function lumaFor(sample: Sample): number {
  const ratio = (SHARE_OF_BROWSER * sample.browserBytes) / sample.bytes
  const steps = bounded(Math.log(ratio) / Math.log(BYTES_PER_STEP))
  const score = expectedScore(sample) + SCORE_PER_STEP * steps
  if (score < TEXTURED_SCORE) {
    const more = STEPS_PER_SCORE * Math.max(0, VERY_TEXTURED_SCORE - score)
    return floored(steps + Math.min(1, TEXTURED_SCORE - score) + Math.min(more, MAX_STEPS - 1))
  }
  const bytes = sample.bytes * BYTES_PER_STEP ** steps
  const tooMany = Math.log(bytes / LARGE_BYTES) / Math.log(BYTES_PER_STEP)
  const spare = (score - ENOUGH_SCORE) / SCORE_PER_STEP
  return floored(steps - Math.max(0, Math.min(tooMany, spare)))
}

function bounded(steps: number): number {
  return Math.min(FINEST_QUALITY - USUAL_QUALITY, Math.max(COARSEST_QUALITY - USUAL_QUALITY, steps))
}

const floored = (steps: number) => USUAL_QUALITY + Math.floor(bounded(steps))

/**
 * Whether it is a browser's work already, saved anew: with the same steps nearly nothing is lost a second time, and with
 * any others much.
 */
export function wasBrowsersWork({ loss, browserLoss }: Sample): boolean {
  return browserLoss.moved < 0.8 * loss.moved
}

/**
 * How much lower a browser's encoder scores at `BROWSER_QUALITY` than the loss predicts for ours; and the change of score
 * for each step.
 */
const QUICK_LOSS = 2.3
const QUICK_SCORE_PER_STEP = 0.55
const QUICK_BYTES_PER_STEP = 1.03
/** What all shall have, but for what can't: below it fine texture suffers, and above it a large photograph has more than is seen. */
const QUICK_SCORE = 77
const MAX_QUICK_STEPS_UP = 6
const MAX_QUICK_STEPS_DOWN = 14

/**
 * The quality to ask a browser's own encoder for, 0 to 1. `loss`, `bytes`: of the picture encoded at `BROWSER_QUALITY`.
 */
export function quickQuality(loss: TextureLoss, bytes: number): number {
  const spare = (expectedScoreOf(loss) - QUICK_LOSS - QUICK_SCORE) / QUICK_SCORE_PER_STEP
  const tooMany = Math.log(bytes / LARGE_BYTES) / Math.log(QUICK_BYTES_PER_STEP)
  const down = Math.min(spare, tooMany, MAX_QUICK_STEPS_DOWN)
  const up = Math.min(-spare, MAX_QUICK_STEPS_UP)
  const steps = down > 0 ? -down : Math.max(0, up)
  return (BROWSER_QUALITY + Math.round(steps)) / 100
}
