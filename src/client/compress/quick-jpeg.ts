/**
 * Quick recompression of photographs: coarser quantisation of their own DCT coefficients, without decoding them to pixels. About
 * as small as the best encoding, in a small part of its time.
 */
import { memorySource } from '../../formats/image.ts'
import type { JpegKind } from '../../formats/jpeg/segments.ts'
import { walkJpeg } from '../../formats/jpeg/walk.ts'
import { PREVIEW_MAX_BYTES } from '../../protocol.ts'
import type { Line } from '../types.ts'
import { type Coefficients, mcuGrid } from './dct/coefficients.ts'
import { encodeFile, estimatedBytes } from './dct/encode.ts'
import { lossOf } from './dct/loss.ts'
import { type Requantisation, requantisationOf, sampleOf } from './dct/quantise.ts'
import { readCoefficients } from './dct/read.ts'
import { type Plane, planesOf, resizedPlane } from './dct/transform.ts'
import { quickQuality, stepsAt, TRIAL_QUALITIES, type Trial } from './jpeg-quality.ts'
import { orientedArea } from './pixels.ts'
import { previewSize } from './preview.ts'
import { type MadePreview, previewJpegOf } from './preview-jpeg.ts'

/**
 * Time of the best encoding, as a multiple of the quick one's. For 12 megapixels it is about 11 in Node, 18 in Chromium, and 25 to
 * 30 in Firefox.
 */
const BEST_TIME_RATIO = 20
/** Size of the quick encoding relative to the best one. On the tuning set: 0.98 with 4:2:0 chroma, 1.07 with 4:4:4. */
const QUICK_SIZE_RATIO = 1.03

/** Full-resolution chroma has four times the samples, which makes up for a quality lower by this much. */
const FULL_CHROMA_STEP = 14

interface QuickJpeg {
  bytes: Uint8Array<ArrayBuffer>
  preview: MadePreview | null
}

interface Kept {
  profile: Uint8Array | null
  /** Exif orientation of the stored pixels. */
  orientation: number
}

interface Timing {
  line: Line
  /** When the file arrived, on the worker's clock. */
  start: number
}

/**
 * `null` if the best encoding should be used: it is worth the wait, or this is not an ordinary photograph. `jpeg`: without
 * metadata.
 */
export async function quickJpeg(jpeg: Uint8Array, kept: Kept, timing: Timing): Promise<QuickJpeg | null> {
  try {
    return await encoded(jpeg, kept, timing)
  } catch (error) {
    // Too little memory for the coefficients.
    if (error instanceof RangeError) return null
    throw error
  }
}

async function encoded(
  jpeg: Uint8Array,
  { profile, orientation }: Kept,
  { line, start }: Timing,
): Promise<QuickJpeg | null> {
  const quickStart = performance.now()
  const walked = await walkJpeg(memorySource(jpeg))
  const image = await readCoefficients(jpeg, walked)
  if (image === null) return null
  const sample = sampleOf(image)
  // The best encoding of so small an image takes no time.
  if (sample === null) return null
  const coarser = coarserThan(image, qualityOf(image, sample))
  const kept = walked.segments
    .filter(({ kind }) => KEPT.includes(kind) || (kind === 'icc' && profile !== null))
    .map(({ offset, length }) => jpeg.subarray(offset, offset + length))
  const bytes = encodeFile(image, coarser, kept)
  const now = performance.now()
  const effort = effortFor(
    {
      bestMs: BEST_TIME_RATIO * (now - quickStart),
      bestBytes: bytes.length / QUICK_SIZE_RATIO,
      quickBytes: bytes.length,
      elapsedMs: now - start,
    },
    line,
  )
  if (effort === 'best') return null
  const preview =
    bytes.length > PREVIEW_MAX_BYTES ? previewJpegOf(previewPlanes(image, orientation), profile) : null
  return { bytes, preview }
}

/** What decoders need besides the frame and the profile. Once scrubbed, Exif only has the orientation. */
const KEPT: JpegKind[] = ['jfif', 'adobe', 'exif']

function coarserThan(image: Coefficients, quality: number): Requantisation {
  const [luma, chroma] = image.components
  const isFull = luma!.horizontal === chroma!.horizontal && luma!.vertical === chroma!.vertical
  return requantisationOf(image, {
    luma: stepsAt(quality),
    chroma: stepsAt(quality - (isFull ? FULL_CHROMA_STEP : 0)),
  })
}

function qualityOf(image: Coefficients, sample: Coefficients): number {
  const share = (image.blockStarts.length - 1) / (sample.blockStarts.length - 1)
  const trial = (quality: number): Trial => {
    const coarser = coarserThan(sample, quality)
    return {
      quality,
      loss: lossOf(sample, coarser),
      bytes: estimatedBytes(sample, coarser) * share,
    }
  }
  const [low, high] = TRIAL_QUALITIES
  return quickQuality(trial(low), trial(high))
}

/** How much smaller than usual a preview may be, if that spares resizing it. */
const MIN_PREVIEW_RATIO = 0.8

/** Luma, and chroma at half its resolution. */
function previewPlanes(image: Coefficients, orientation: number): Plane[] {
  const longest = Math.max(image.width, image.height)
  const usual = previewSize(image)
  const usualSide = Math.max(usual.width, usual.height)
  const exactSide = (longest * Math.floor((8 * usualSide) / longest)) / 8
  const { width, height } = exactSide < MIN_PREVIEW_RATIO * usualSide ? usual : previewSize(image, exactSide)
  const { mcuWidth } = mcuGrid(image)
  const sizes = image.components.map((_, index) =>
    index === 0 ? { width, height } : { width: Math.ceil(width / 2), height: Math.ceil(height / 2) },
  )
  const eighths = image.components.map(({ horizontal }, index) => {
    const side = index === 0 ? Math.max(width, height) : Math.max(width, height) / 2
    return Math.min(8, Math.ceil((side * mcuWidth) / (longest * horizontal)))
  })
  return planesOf(image, eighths).map((plane, index) =>
    orientedArea(resizedPlane(plane, sizes[index]!), orientation),
  )
}

/** Expected time and size of the best encoding, once the quick one is done. Unit: milliseconds, bytes. */
export interface Estimate {
  bestMs: number
  bestBytes: number
  quickBytes: number
  /** Since the file arrived. */
  elapsedMs: number
}

/** The link may take two seconds in total; the rest of them goes to fetching and starting the codecs. */
const SOON_MS = 1200
/** How much longer the best encoding may take than the quick one, because its smaller size pays off at every view. */
const MAX_DELAY_RATIO = 1.03

/**
 * `best` if its link comes soon, or hardly later than with `quick`. If other images are waiting: `best` if encoding keeps up with
 * the connection.
 */
export function effortFor(estimate: Estimate, { bytesPerSecond, isBusy }: Line): 'best' | 'quick' {
  const { bestMs, bestBytes, quickBytes, elapsedMs } = estimate
  const sendMs = (bytes: number) => (1000 * bytes) / bytesPerSecond
  if (isBusy) return bestMs <= sendMs(bestBytes) ? 'best' : 'quick'
  const best = bestMs + sendMs(bestBytes)
  const quick = sendMs(quickBytes)
  return elapsedMs + best <= SOON_MS || best <= MAX_DELAY_RATIO * quick ? 'best' : 'quick'
}
