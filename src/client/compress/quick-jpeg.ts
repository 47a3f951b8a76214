/** Quick recompression of photographs with the browser's codec, unless the best encoding turns out to be worth the wait. */
import { PREVIEW_MAX_BYTES } from '../../protocol.ts'
import type { Line } from '../types.ts'
import { fineColourShows } from './chroma.ts'
import { withJpegProfile, withoutJpegProfile } from './jpeg-profile.ts'
import { BROWSER_QUALITY, quickQuality } from './jpeg-quality.ts'
import { decodeWithPlatform, type ResizedImage, roundTrip } from './platform.ts'
import { type MadePreview, previewQualities, previewSize, TARGET_BYTES } from './preview.ts'
import { textureLossOf } from './texture-loss.ts'

/**
 * Time of the best encoding, as a multiple of the browser's decode and encode time. On the tuning set the ratio was 7 to 14 when
 * the latter still included drawing on a canvas (at least an eighth of it); it has not been measured again since.
 */
const BEST_TIME_RATIO = 10
/** Size of the whole relative to the estimate from its sample, measured on the tuning set. */
const SAMPLE_SIZE_RATIO = 0.93
/** Size of the quick encoding relative to the best one, measured on the tuning set. */
const QUICK_SIZE_RATIO = 1.05

/**
 * `null` if the best encoding should be used: it is worth the wait, or this browser's codec or canvas is not faithful. `jpeg`:
 * without metadata, three components. `profile`: added to the result. `isRotated`: has an Exif orientation other than 1. `start`:
 * when the file arrived, on the worker's clock.
 */
export async function quickJpeg(
  jpeg: Uint8Array,
  { profile, fullChroma, isRotated }: { profile: Uint8Array | null; fullChroma: boolean; isRotated: boolean },
  { line, start }: { line: Line; start: number },
): Promise<{ bytes: Uint8Array<ArrayBuffer>; preview: MadePreview | null } | null> {
  const plain = await withoutJpegProfile(jpeg)
  const decodeStart = performance.now()
  const image = await decodeWithPlatform(plain, isRotated)
  if (image === null) return null
  const { width, height } = image
  let small: ResizedImage | null = null
  try {
    const sample = image.sample()
    // Without a sample, the image is so small that the best encoding takes no time.
    if (sample === null || (fullChroma && fineColourShows(sample))) return null
    const result = await roundTrip(sample, BROWSER_QUALITY / 100)
    if (result === null) return null
    const expected = (SAMPLE_SIZE_RATIO * result.bytes * width * height) / (sample.width * sample.height)
    // Resize first, because encoding consumes the image.
    small = image.resized(previewSize(image))
    const encoded = await image.encode(quickQuality(textureLossOf(sample, result.pixels), expected))
    if (encoded === null) return null
    // Measured only after the full encode: with a CPU quota, a shorter burst may have run at full speed.
    const effort = effortFor(
      {
        bestMs: BEST_TIME_RATIO * (performance.now() - decodeStart),
        bestBytes: encoded.length / QUICK_SIZE_RATIO,
        quickBytes: encoded.length,
        elapsedMs: performance.now() - start,
      },
      line,
    )
    if (effort === 'best') return null
    const preview = encoded.length > PREVIEW_MAX_BYTES ? await quickPreview(small, profile) : null
    return { bytes: await withProfile(encoded, profile), preview }
  } finally {
    image.close()
    small?.close()
  }
}

/** Replaces the profile that the browser may have written. */
async function withProfile(jpeg: Uint8Array, profile: Uint8Array | null): Promise<Uint8Array<ArrayBuffer>> {
  return withJpegProfile(await withoutJpegProfile(jpeg), profile)
}

/** If the first encoding is too large, its size determines the quality of the next. */
async function quickPreview(
  small: ResizedImage | null,
  profile: Uint8Array | null,
): Promise<MadePreview | null> {
  const make = async (quality: number) => {
    const encoded = await small?.encode(quality / 100)
    return encoded ? withProfile(encoded, profile) : null
  }
  const [firstQuality = 0] = previewQualities()
  let bytes = await make(firstQuality)
  for (const quality of previewQualities(bytes?.length)) {
    if (bytes === null || bytes.length <= TARGET_BYTES) break
    bytes = await make(quality)
  }
  return bytes && bytes.length <= PREVIEW_MAX_BYTES ? { bytes, type: 'image/jpeg' } : null
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
