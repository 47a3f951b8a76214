/** The quick way to make a photograph smaller: asks a sample of it whether the best way is worth the wait, and else does it. */
import { PREVIEW_MAX_BYTES } from '../../protocol.ts'
import { fineColourShows } from './chroma-detail.ts'
import type { Codecs } from './codecs.ts'
import { effortFor, type Line } from './effort.ts'
import { withJpegProfile, withoutJpegProfile } from './jpeg-profile.ts'
import { expectedScoreOf, quickQuality, USUAL_QUALITY } from './jpeg-quality.ts'
import { sampledBy } from './pixels.ts'
import { type Drawn, drawn } from './platform-encoder.ts'
import { type MadePreview, PREVIEW_QUALITIES, previewSize, WISHED_BYTES } from './preview.ts'
import { textureLossOf } from './texture-loss.ts'

/** A browser's codec beside ours, for the same picture: time, and bytes (the choosing half: 1.02 to 1.2). */
const TIME = 0.1
const BYTES = 1.1

/**
 * `null` where the best way is to be taken: it is worth the wait, or this browser can't do it truly. `jpeg`: without
 * metadata, of three components. `profile`: what the result carries. `start`: when the picture came, by the worker's clock.
 */
export async function quickJpeg(
  jpeg: Uint8Array,
  { profile, fullChroma }: { profile: Uint8Array | null; fullChroma: boolean },
  codecs: Codecs,
  { line, start }: { line: Line; start: number },
): Promise<{ bytes: Uint8Array<ArrayBuffer>; preview: MadePreview | null } | null> {
  const canvas = await drawn(await withoutJpegProfile(jpeg))
  if (canvas === null) return null
  try {
    const { width, height } = canvas
    const sample = sampledBy(canvas.read, width, height)
    // So small that the best way takes no time.
    if (sample === null || (fullChroma && fineColourShows(sample))) return null
    const times = (width * height) / (sample.width * sample.height)
    const quality = { luma: USUAL_QUALITY, chroma: USUAL_QUALITY }
    const begun = performance.now()
    const own = await codecs.encodeJpeg(sample, { quality, fullChroma: false, gray: false })
    const encoded = performance.now()
    const decoded = await codecs.decodeJpeg(own)
    const [encodeMs, decodeMs] = [encoded - begun, performance.now() - encoded]
    const bytes = own.length * times
    const effort = effortFor(
      {
        // Besides: colour is sharpened in about the time of decoding, and two samples are encoded.
        bestMs: times * (encodeMs + 2 * decodeMs) + 3 * encodeMs,
        bestBytes: bytes,
        quickMs: times * TIME * encodeMs,
        quickBytes: BYTES * bytes,
        elapsedMs: performance.now() - start,
      },
      line,
    )
    if (effort === 'best') return null
    const result = await canvas.encode(quickQuality(expectedScoreOf(textureLossOf(sample, decoded)), bytes))
    if (result === null) return null
    const preview = await quickPreview(canvas, profile)
    return { bytes: await carrying(result, profile), preview }
  } finally {
    canvas.close()
  }
}

async function carrying(jpeg: Uint8Array, profile: Uint8Array | null): Promise<Uint8Array<ArrayBuffer>> {
  const plain = await withoutJpegProfile(jpeg)
  return profile ? withJpegProfile(plain, profile) : plain
}

/** The browser's codec takes no time for so small a picture: it is tried until the result is small enough. */
async function quickPreview(canvas: Drawn, profile: Uint8Array | null): Promise<MadePreview | null> {
  const small = canvas.shrunk(previewSize(canvas))
  if (small === null) return null
  let least: MadePreview | null = null
  try {
    for (const quality of PREVIEW_QUALITIES) {
      const encoded = await small.encode(quality / 100)
      if (encoded === null) return null
      const bytes = await carrying(encoded, profile)
      if (bytes.length <= PREVIEW_MAX_BYTES) least = { bytes, type: 'image/jpeg' }
      if (bytes.length <= WISHED_BYTES) break
    }
    return least
  } finally {
    small.close()
  }
}
