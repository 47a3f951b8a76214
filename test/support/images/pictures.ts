/** Pictures for sharp to encode: deterministic gradients with noise. */
import sharp, { type Sharp } from 'sharp'
import type { ImageType } from '../../../src/protocol.ts'

export interface Picture {
  width?: number
  height?: number
  channels?: 1 | 2 | 3 | 4
  /** 16 bits per sample instead of 8. */
  deep?: boolean
  seed?: number
}

/** A seeded pseudorandom generator of numbers from 0 to 1 (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export function picture({
  width = 53,
  height = 37,
  channels = 3,
  deep = false,
  seed = 1,
}: Picture = {}): Sharp {
  const random = randomFrom(seed)
  const max = deep ? 65_535 : 255
  const pixels = deep ? new Uint16Array(width * height * channels) : new Uint8Array(width * height * channels)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      for (let channel = 0; channel < channels; channel++) {
        const slope = (x / width + (channel * y) / height) / 3
        pixels[(y * width + x) * channels + channel] = max * Math.min(1, slope + random() * 0.3)
      }
    }
  }
  const image = sharp(pixels, { raw: { width, height, channels } })
  if (channels > 2) return image
  return image.toColourspace(deep ? 'grey16' : 'b-w')
}

/** PNG files of different pictures, by default with alpha. */
export function pages(count: number, { channels = 4, ...options }: Picture = {}): Promise<Buffer[]> {
  return Promise.all(
    Array.from({ length: count }, (_, index) =>
      picture({ ...options, channels, seed: index + 1 })
        .png()
        .toBuffer(),
    ),
  )
}

/** An animation of `count` frames. */
export async function frames(count: number, options?: Picture): Promise<Sharp> {
  return sharp(await pages(count, options), { join: { animated: true } })
}

export interface MadeImage {
  /** Unique. */
  name: string
  type: ImageType
  bytes: Uint8Array
  /** It contains no private metadata, so it is stored unchanged. Private metadata in other images contains the word SECRET. */
  clean: boolean
  animated?: boolean
  /** It contains a location. */
  located?: boolean
}

type Facts = Pick<MadeImage, 'clean' | 'located' | 'animated'>

/** Names the files of one type. `kind`: prefix of their names. */
export const naming =
  (kind: string, type: ImageType) =>
  (files: Record<string, Buffer>, facts: Facts): MadeImage[] =>
    Object.entries(files).map(([name, bytes]) => ({ name: `${kind}, ${name}`, type, bytes, ...facts }))
