/** Makes previews, which galleries and chats show in place of large images (docs/decisions/080). */
import { PREVIEW_MAX_BYTES, PREVIEW_MAX_SIDE_PIXELS } from '../../protocol.ts'
import type { Codecs } from './codecs.ts'
import { profileKindOf } from './icc.ts'
import { type Area, isOpaque, type Pixels, wordsOf } from './pixels.ts'
import { type MadePreview, planesOfPixels, previewJpegOf, previewQualities } from './preview-jpeg.ts'
import { withWebpProfile } from './webp-profile.ts'

/** `pixels`: as displayed, in the colours of `profile`. `null` if no result is small enough. Rejects with a codec's error. */
export async function previewOf(
  pixels: Pixels,
  profile: Uint8Array | null,
  codecs: Pick<Codecs, 'encodeWebp'>,
): Promise<MadePreview | null> {
  const hasAlpha = !isOpaque(pixels)
  const gray = profileKindOf(profile) === 'gray'
  // Noise exceeds the limit at any quality; half the size looks the same.
  for (const longest of [defaultSide(pixels), defaultSide(pixels) / 2]) {
    const small = resized(pixels, previewSize(pixels, longest), hasAlpha)
    const made = hasAlpha
      ? await previewWebpOf(small, profile, codecs)
      : previewJpegOf(planesOfPixels(small, { gray }), profile)
    if (made !== null) return made
  }
  return null
}

async function previewWebpOf(
  small: Pixels,
  profile: Uint8Array | null,
  codecs: Pick<Codecs, 'encodeWebp'>,
): Promise<MadePreview | null> {
  for (const quality of previewQualities()) {
    const bytes = withWebpProfile(await codecs.encodeWebp(small, quality), profile, small)
    if (bytes.length <= PREVIEW_MAX_BYTES) return { bytes, type: 'image/webp' }
  }
  return null
}

interface Size {
  width: number
  height: number
}

/** Side of a preview relative to the image: a preview nearly as large would take nearly as long to encode. */
const SIDE_RATIO = 0.4
const MIN_SIDE_PIXELS = 800

function defaultSide({ width, height }: Size): number {
  const side = SIDE_RATIO * Math.max(width, height)
  return Math.min(PREVIEW_MAX_SIDE_PIXELS, Math.max(MIN_SIDE_PIXELS, side))
}

/** `longest`: length of the longer side. Unit: pixels. */
export function previewSize({ width, height }: Size, longest = defaultSide({ width, height })): Size {
  const scale = Math.min(1, longest / Math.max(width, height))
  return {
    width: Math.max(1, Math.round(width * scale)),
    height: Math.max(1, Math.round(height * scale)),
  }
}

/**
 * Approximates area averaging in a fraction of its time. Processes two channels per 32-bit integer, 16 bits each.
 */
function resized(pixels: Pixels, size: Size, hasAlpha: boolean): Pixels {
  const words = wordsOf(hasAlpha ? premultiplied(pixels) : pixels)
  const block = Math.round(Math.min(words.width / size.width, words.height / size.height))
  const small = block < 2 ? bilinear(words, size) : blockMeans(words, size, Math.min(block, MAX_BLOCK))
  const result = { ...size, data: new Uint8Array(small.buffer) }
  return hasAlpha ? unpremultiplied(result) : result
}

/** Mask of the even channels, red and blue. */
const EVEN = 0xff00ff

/** The sums over its 121 pixels still fit into 16 bits. */
const MAX_BLOCK = 11

/** Each output pixel is the mean of a block of `side` × `side` input pixels around its centre. */
function blockMeans(
  { data, width, height }: Area<Uint32Array>,
  size: Size,
  side: number,
): Uint32Array<ArrayBuffer> {
  const means = new Uint32Array(size.width * size.height)
  const columns = blockStarts(width, size.width, side)
  const rows = blockStarts(height, size.height, side)
  const count = side * side
  for (let y = 0, to = 0; y < size.height; y++) {
    const top = rows[y]! * width
    for (let x = 0; x < size.width; x++, to++) {
      let even = 0
      let odd = 0
      let from = top + columns[x]!
      for (let row = 0; row < side; row++, from += width) {
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

function blockStarts(from: number, to: number, side: number): Int32Array {
  return Int32Array.from({ length: to }, (_, index) =>
    Math.min(from - side, Math.max(0, Math.round(((index + 0.5) * from) / to - side / 2))),
  )
}

/** Bilinear interpolation between the four input pixels nearest to the output pixel's centre. */
function bilinear({ data, width, height }: Area<Uint32Array>, size: Size): Uint32Array<ArrayBuffer> {
  const result = new Uint32Array(size.width * size.height)
  const columns = neighboursOf(width, size.width)
  const rows = neighboursOf(height, size.height)
  for (let y = 0, to = 0; y < size.height; y++) {
    const top = rows.at[y]! * width
    const below = rows.next[y]! * width
    const down = rows.weight[y]!
    for (let x = 0; x < size.width; x++, to++) {
      const at = columns.at[x]!
      const next = columns.next[x]!
      const right = columns.weight[x]!
      // Separate variables: destructuring pairs here would be ten times slower.
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

/** For each output pixel, its two nearest input pixels and the weight of the second, out of 256. */
function neighboursOf(from: number, to: number) {
  const neighbours = { at: new Int32Array(to), next: new Int32Array(to), weight: new Int32Array(to) }
  for (let index = 0; index < to; index++) {
    const centre = Math.min(from - 1, Math.max(0, ((index + 0.5) * from) / to - 0.5))
    const at = Math.floor(centre)
    neighbours.at[index] = at
    neighbours.next[index] = Math.min(from - 1, at + 1)
    neighbours.weight[index] = Math.round((centre - at) * 256)
  }
  return neighbours
}

/** Premultiplies alpha, so that transparent pixels don't bleed colour into their neighbours. */
function premultiplied({ data, width, height }: Pixels): Pixels {
  const result = new Uint8Array(data.length)
  for (let i = 0; i < data.length; i += 4) {
    const alpha = data[i + 3]!
    for (let channel = i; channel < i + 3; channel++) result[channel] = (data[channel]! * alpha) / 255 + 0.5
    result[i + 3] = alpha
  }
  return { data: result, width, height }
}

function unpremultiplied({ data, width, height }: Pixels): Pixels {
  for (let i = 0; i < data.length; i += 4) {
    const alpha = data[i + 3]! || 255
    for (let channel = i; channel < i + 3; channel++)
      data[channel] = Math.min(255, (data[channel]! * 255) / alpha + 0.5)
  }
  return { data, width, height }
}
