/** The quick way to make a photograph smaller, by the browser's own codec: it says on its way whether the best one is worth the wait. */
import { PREVIEW_MAX_BYTES } from '../../protocol.ts'
import type { Line } from '../types.ts'
import { fineColourShows } from './chroma.ts'
import { withJpegProfile, withoutJpegProfile } from './jpeg-profile.ts'
import { BROWSER_QUALITY, quickQuality } from './jpeg-quality.ts'
import { coded, type Drawing, drawn } from './platform.ts'
import { type MadePreview, previewQualities, previewSize, WISHED_BYTES } from './preview.ts'
import { textureLossOf } from './texture-loss.ts'

/**
 * Time of the best way, as a multiple of what the browser took to decode and encode. On the choosing half it was 7 to 14 while that
 * included drawing on a canvas, which took an eighth of it or more; it was not measured again without.
 */
const BEST_TIME = 10
/** Bytes of the whole beside what a sample of it says, and beside those of the best way (choosing half). */
const SAMPLED_BYTES = 0.93
const BYTES = 1.05

/**
 * `null` where the best way is to be taken: it is worth the wait, or this browser can't do it truly. `jpeg`: without
 * metadata, of three components. `profile`: what the result carries. `isTurned`: by Exif. `start`: when the picture came, by the
 * worker's clock.
 */
export async function quickJpeg(
  jpeg: Uint8Array,
  { profile, fullChroma, isTurned }: { profile: Uint8Array | null; fullChroma: boolean; isTurned: boolean },
  { line, start }: { line: Line; start: number },
): Promise<{ bytes: Uint8Array<ArrayBuffer>; preview: MadePreview | null } | null> {
  const plain = await withoutJpegProfile(jpeg)
  const begun = performance.now()
  const picture = await drawn(plain, isTurned)
  if (picture === null) return null
  const { width, height } = picture
  let small: Drawing | null = null
  try {
    const sample = picture.sample()
    // So small that the best way takes no time.
    if (sample === null || (fullChroma && fineColourShows(sample))) return null
    const result = await coded(sample, BROWSER_QUALITY / 100)
    if (result === null) return null
    const expected = (SAMPLED_BYTES * result.bytes * width * height) / (sample.width * sample.height)
    // Encoding consumes the picture.
    small = picture.shrunk(previewSize(picture))
    const encoded = await picture.encode(quickQuality(textureLossOf(sample, result.pixels), expected))
    if (encoded === null) return null
    // Only now: less work than this, on a share of a core, may have had all of it for that moment.
    const effort = effortFor(
      {
        bestMs: BEST_TIME * (performance.now() - begun),
        bestBytes: encoded.length / BYTES,
        quickBytes: encoded.length,
        elapsedMs: performance.now() - start,
      },
      line,
    )
    if (effort === 'best') return null
    const preview = encoded.length > PREVIEW_MAX_BYTES ? await quickPreview(small, profile) : null
    return { bytes: await carrying(encoded, profile), preview }
  } finally {
    picture.close()
    small?.close()
  }
}

async function carrying(jpeg: Uint8Array, profile: Uint8Array | null): Promise<Uint8Array<ArrayBuffer>> {
  return withJpegProfile(await withoutJpegProfile(jpeg), profile)
}

/** The first encoding says how coarse the next one must be to be small enough, if it is not itself. */
async function quickPreview(small: Drawing | null, profile: Uint8Array | null): Promise<MadePreview | null> {
  const make = async (quality: number) => {
    const encoded = await small?.encode(quality / 100)
    return encoded ? carrying(encoded, profile) : null
  }
  const [usual = 0] = previewQualities()
  let bytes = await make(usual)
  for (const quality of previewQualities(bytes?.length)) {
    if (bytes === null || bytes.length <= WISHED_BYTES) break
    bytes = await make(quality)
  }
  return bytes && bytes.length <= PREVIEW_MAX_BYTES ? { bytes, type: 'image/jpeg' } : null
}

/** What the best way is expected to take and to give, where the quick one is done. Unit: milliseconds, bytes. */
export interface Prospects {
  bestMs: number
  bestBytes: number
  quickBytes: number
  /** Since the picture was handed over. */
  elapsedMs: number
}

/** Nobody minds a link that comes within two seconds. Fetching and starting the codecs takes the rest of them. */
const SOON_MS = 1200
/** How much longer the best way may take than the quick one: its fewer bytes pay off at every later view. */
const WORTH = 1.03

/**
 * `best` where its link comes soon, or hardly later than that of `quick`. With others waiting: where encoding keeps up with
 * the line.
 */
export function effortFor(prospects: Prospects, { bytesPerSecond, isBusy }: Line): 'best' | 'quick' {
  const { bestMs, bestBytes, quickBytes, elapsedMs } = prospects
  const sending = (bytes: number) => (1000 * bytes) / bytesPerSecond
  if (isBusy) return bestMs <= sending(bestBytes) ? 'best' : 'quick'
  const best = bestMs + sending(bestBytes)
  const quick = sending(quickBytes)
  return elapsedMs + best <= SOON_MS || best <= WORTH * quick ? 'best' : 'quick'
}
