/** Makes a preview of a picture that was decoded anyway: what galleries and chats show in its place (docs/decisions/080). */
import { PREVIEW_MAX_BYTES, PREVIEW_MAX_SIDE_PIXELS, type PreviewType } from '../../protocol.ts'
import type { Codecs } from './codecs.ts'
import { profileKindOf } from './icc.ts'
import { withJpegProfile } from './jpeg-profile.ts'
import { isOpaque, type Pixels, sampled } from './pixels.ts'
import { withWebpProfile } from './webp-profile.ts'

export interface MadePreview {
  bytes: Uint8Array<ArrayBuffer>
  type: PreviewType
}

/** Eighteen in a gallery are a megabyte. */
export const WISHED_BYTES = 58_000

/**
 * Qualities of the JPEG encoder, with the bytes that a photograph takes relative to the first. Below the last the tables are
 * too coarse for a baseline JPEG.
 */
const QUALITIES: [quality: number, bytes: number][] = [
  [60, 1],
  [50, 0.84],
  [40, 0.69],
  [30, 0.54],
  [24, 0.44],
]

/** As encoders are called, in turn, until the result is small enough. */
const PREVIEW_QUALITIES = QUALITIES.map(([quality]) => quality)

/** Qualities to try, finest first. `bytes`: size of the preview at the first one; those expected to be too large are left out. */
export function previewQualities(bytes = 0): number[] {
  const wished = QUALITIES.findIndex(([, ratio]) => ratio * bytes <= WISHED_BYTES)
  // -1, if none is expected to do: the coarsest alone.
  return PREVIEW_QUALITIES.slice(wished)
}

/** `pixels`: as displayed. `profile`: of their colours. `null` if none comes out small enough. Throws what a codec throws. */
export async function previewOf(
  pixels: Pixels,
  profile: Uint8Array | null,
  codecs: Pick<Codecs, 'encodeJpeg' | 'encodeWebp'>,
): Promise<MadePreview | null> {
  const isClear = !isOpaque(pixels)
  const type = isClear ? 'image/webp' : 'image/jpeg'
  const gray = profileKindOf(profile) === 'gray'
  const encode = (part: Pixels, quality: number) =>
    isClear
      ? codecs.encodeWebp(part, quality)
      : codecs.encodeJpeg(part, {
          quality: { luma: quality, chroma: quality },
          fullChroma: false,
          gray,
          quick: true,
        })
  // Noise takes more bytes than any quality saves: a smaller picture of it looks the same.
  for (const longest of [usualSide(pixels), usualSide(pixels) / 2]) {
    const small = shrunk(pixels, previewSize(pixels, longest), isClear)
    for (const quality of isClear ? PREVIEW_QUALITIES : await qualitiesFor(small, encode)) {
      const encoded = await encode(small, quality)
      const bytes = isClear ? withWebpProfile(encoded, profile, small) : withJpegProfile(encoded, profile)
      if (bytes.length <= PREVIEW_MAX_BYTES) return { bytes, type }
    }
  }
  return null
}

/** The qualities to try, estimated from the size of an encoded sample of the preview. */
async function qualitiesFor(
  small: Pixels,
  encode: (part: Pixels, quality: number) => Promise<Uint8Array>,
): Promise<number[]> {
  const sample = sampled(small)
  const times = (small.width * small.height) / (sample.width * sample.height)
  const [usual = 0] = PREVIEW_QUALITIES
  return previewQualities((await encode(sample, usual)).length * times)
}

interface Size {
  width: number
  height: number
}

/** Nearly as large as its picture, a preview would take nearly as long to make. Unit: pixels. */
const SHARE_OF_SIDE = 0.4
const MIN_SIDE_PIXELS = 800

function usualSide({ width, height }: Size): number {
  const share = SHARE_OF_SIDE * Math.max(width, height)
  return Math.min(PREVIEW_MAX_SIDE_PIXELS, Math.max(MIN_SIDE_PIXELS, share))
}

/** `longest`: of its sides. Unit: pixels. */
export function previewSize({ width, height }: Size, longest = usualSide({ width, height })): Size {
  const scale = Math.min(1, longest / Math.max(width, height))
  return {
    width: Math.max(1, Math.round(width * scale)),
    height: Math.max(1, Math.round(height * scale)),
  }
}

/**
 * Close to the mean of all that a pixel stands for, in a fraction of the time. Two channels are added at once, each in half
 * of a number.
 */
function shrunk(pixels: Pixels, size: Size, isClear: boolean): Pixels {
  const { data, width, height } = isClear ? multiplied(pixels) : pixels
  const words = { data: new Uint32Array(data.buffer, data.byteOffset, width * height), width, height }
  const block = Math.round(Math.min(width / size.width, height / size.height))
  const small = block < 2 ? between(words, size) : meansOf(words, size, Math.min(block, MAX_BLOCK))
  const result = { ...size, data: new Uint8Array(small.buffer) }
  return isClear ? divided(result) : result
}

interface Words {
  /** A pixel each. */
  data: Uint32Array
  width: number
  height: number
}

const EVEN = 0xff00ff

/** Sums of its 121 pixels fit into half of a number each. */
const MAX_BLOCK = 11

/** Each pixel is the mean of a block of `side` by `side` around its middle. */
function meansOf({ data, width, height }: Words, size: Size, side: number): Uint32Array<ArrayBuffer> {
  const means = new Uint32Array(size.width * size.height)
  const columns = startsOf(width, size.width, side)
  const rows = startsOf(height, size.height, side)
  const count = side * side
  for (let y = 0, to = 0; y < size.height; y++) {
    const top = rows[y]! * width
    for (let x = 0; x < size.width; x++, to++) {
      let even = 0
      let odd = 0
      let from = top + columns[x]!
      for (let line = 0; line < side; line++, from += width) {
        for (let at = from; at < from + side; at++) {
          const pixel = data[at]!
          even = (even + (pixel & EVEN)) | 0
          odd = (odd + ((pixel >>> 8) & EVEN)) | 0
        }
      }
      const low = ((even & 0xffff) / count) | (((even >>> 16) / count) << 16)
      const high = ((odd & 0xffff) / count) | (((odd >>> 16) / count) << 16)
      means[to] = low | (high << 8)
    }
  }
  return means
}

function startsOf(from: number, to: number, side: number): Int32Array {
  return Int32Array.from({ length: to }, (_, index) =>
    Math.min(from - side, Math.max(0, Math.round(((index + 0.5) * from) / to - side / 2))),
  )
}

/** Each pixel from the four that are nearest to its middle (bilinear). */
function between({ data, width, height }: Words, size: Size): Uint32Array<ArrayBuffer> {
  const result = new Uint32Array(size.width * size.height)
  const columns = placesOf(width, size.width)
  const rows = placesOf(height, size.height)
  for (let y = 0, to = 0; y < size.height; y++) {
    const top = rows.at[y]! * width
    const below = rows.next[y]! * width
    const down = rows.weight[y]!
    for (let x = 0; x < size.width; x++, to++) {
      const at = columns.at[x]!
      const next = columns.next[x]!
      const right = columns.weight[x]!
      // Names of their own: taking pairs apart here would take ten times as long.
      const a = data[top + at]!
      const b = data[top + next]!
      const c = data[below + at]!
      const d = data[below + next]!
      const fourth = (right * down) >> 8
      const first = 256 - right - down + fourth
      const second = right - fourth
      const third = down - fourth
      const even =
        Math.imul(a & EVEN, first) +
        Math.imul(b & EVEN, second) +
        Math.imul(c & EVEN, third) +
        Math.imul(d & EVEN, fourth)
      const odd =
        Math.imul((a >>> 8) & EVEN, first) +
        Math.imul((b >>> 8) & EVEN, second) +
        Math.imul((c >>> 8) & EVEN, third) +
        Math.imul((d >>> 8) & EVEN, fourth)
      result[to] = ((even >>> 8) & EVEN) | (odd & ~EVEN)
    }
  }
  return result
}

/** The two neighbours of the middle of each pixel, and the weight of the second, of 256. */
function placesOf(from: number, to: number) {
  const places = { at: new Int32Array(to), next: new Int32Array(to), weight: new Int32Array(to) }
  for (let index = 0; index < to; index++) {
    const middle = Math.min(from - 1, Math.max(0, ((index + 0.5) * from) / to - 0.5))
    const at = Math.floor(middle)
    places.at[index] = at
    places.next[index] = Math.min(from - 1, at + 1)
    places.weight[index] = Math.round((middle - at) * 256)
  }
  return places
}

/** Colour times alpha: what nobody sees has no colour, and gives none to its neighbours. */
function multiplied({ data, width, height }: Pixels): Pixels {
  const result = new Uint8Array(data.length)
  for (let i = 0; i < data.length; i += 4) {
    const alpha = data[i + 3]!
    for (let channel = i; channel < i + 3; channel++) result[channel] = (data[channel]! * alpha) / 255 + 0.5
    result[i + 3] = alpha
  }
  return { data: result, width, height }
}

function divided({ data, width, height }: Pixels): Pixels {
  for (let i = 0; i < data.length; i += 4) {
    const alpha = data[i + 3]! || 255
    for (let channel = i; channel < i + 3; channel++)
      data[channel] = Math.min(255, (data[channel]! * 255) / alpha + 0.5)
  }
  return { data, width, height }
}
