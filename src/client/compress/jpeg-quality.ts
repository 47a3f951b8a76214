/** How finely a photograph is encoded, by what a sample of it tells. Pure. Figures: bench/compress.md. */

/** mozjpeg's, of brightness and of colour. */
export interface JpegQuality {
  luma: number
  chroma: number
}

/** What suits most photographs, and what their samples are encoded with. */
export const USUAL_QUALITY = 82
export const FINEST_QUALITY = 90
const COARSEST_QUALITY = 76

/**
 * For photographs that arrive as PNG, always with full chroma: nothing was lost yet, and this is the generation that
 * all later ones start from.
 */
export const PHOTO_PNG_QUALITY: JpegQuality = { luma: 88, chroma: 64 }

/** Twice as many colour samples in both directions make up for steps that are so much coarser. */
const FULL_CHROMA_STEP = 24

/** What a sample says of the whole picture, if that is encoded at `USUAL_QUALITY` with colour halved. */
export interface Sample {
  /** Of the whole picture. Unit: bytes. */
  bytes: number
  /** Of what brightness and colour have for themselves, 0 to 1. */
  colourShare: number
  /** See `textureLossOf`. */
  textureLoss: number
}

/** SSIMULACRA2 that the whole will have, to within 2 for two pictures of three. A fit over the choosing half. */
export function expectedScore({ textureLoss, colourShare }: Sample): number {
  return 90.3 - 164 * textureLoss - 13 * colourShare
}

/** What a page loads at once. A larger photograph gives up what is not seen. Unit: bytes. */
const LARGE_BYTES = 600_000
const ENOUGH_SCORE = 79
const SCORE_PER_STEP = 0.6
const BYTES_PER_STEP = 1.036

/** Below the first, fine texture suffers a little; below the second it is all that the picture has. */
const TEXTURED_SCORE = 78.5
const VERY_TEXTURED_SCORE = 75.5

/** Without colour there are bytes to spare. */
const COLOURLESS_SHARE = 0.02
const COLOURLESS_STEPS = 3

export function qualityFor(sample: Sample, { fullChroma }: { fullChroma: boolean }): JpegQuality {
  const luma = USUAL_QUALITY + stepsFor(sample)
  return { luma, chroma: fullChroma ? luma - FULL_CHROMA_STEP : luma }
}

function stepsFor(sample: Sample): number {
  const score = expectedScore(sample)
  if (score < VERY_TEXTURED_SCORE) {
    const steps = 3 + Math.round(2 * (VERY_TEXTURED_SCORE - score))
    return Math.min(FINEST_QUALITY - USUAL_QUALITY, steps)
  }
  if (score < TEXTURED_SCORE) return 2
  const spare = Math.floor((score - ENOUGH_SCORE) / SCORE_PER_STEP)
  if (sample.bytes > LARGE_BYTES && spare > 0) {
    const wanted = Math.ceil(Math.log(sample.bytes / LARGE_BYTES) / Math.log(BYTES_PER_STEP))
    return -Math.min(wanted, spare, USUAL_QUALITY - COARSEST_QUALITY)
  }
  return sample.colourShare < COLOURLESS_SHARE ? COLOURLESS_STEPS : 0
}
