/** Test images of every kind that the policy distinguishes, and helpers to compare them. */
import assert from 'node:assert/strict'
import sharp, { type Sharp } from 'sharp'
import { pngChunks, pngOf } from '../support/chunks.ts'
import { corpus } from '../support/corpus.ts'

/** A file of the corpus. One in `PINHOLE_CORPUS` takes precedence. */
export function fromCorpus(name: string): Blob {
  const found = corpus(/./).findLast((file) => file.name.replace('PINHOLE_CORPUS/', '') === name)
  if (found === undefined) throw new Error(`${name} is not in the corpus`)
  return blobOf(found.bytes)
}

export function blobOf(bytes: Uint8Array): Blob {
  return new Blob([new Uint8Array(bytes)])
}

/** Deterministic pseudo-random bytes. */
export function noise(length: number, seed = 1): Uint8Array {
  let state = seed
  return Uint8Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state >>> 24
  })
}

/** Soft shapes with grain, brighter towards one corner: compresses like a photograph, and every orientation is different. */
export function photo(width = 640, height = 480, grain = 10): Sharp {
  const small = noise(16 * 12 * 3, 7)
  for (let i = 0; i < small.length; i++) small[i] = small[i]! / 2 + ((i % 48) + i / 6) * 0.8
  const fine = Buffer.from(noise(width * height, 9).map((value) => 128 + ((value - 128) * grain) / 128))
  const shapes = sharp(small, { raw: { width: 16, height: 12, channels: 3 } }).resize(width, height, {
    kernel: 'cubic',
    fit: 'fill',
  })
  return shapes.composite([{ input: fine, raw: { width, height, channels: 1 }, blend: 'soft-light' }])
}

/** High quality, like a camera's. */
export async function cameraJpeg(width?: number, height?: number): Promise<Buffer> {
  return sharp(await photo(width, height).png().toBuffer())
    .jpeg({ quality: 96 })
    .toBuffer()
}

/** A photograph in a PNG. */
export const photoPng = () => photo(600, 430, 60).png().toBuffer()

const colourOf = (i: number) => `#${((i * 7919) % 4096).toString(16).padStart(3, '0')}`

/** Flat areas, text and lines. */
export function screenshot(width = 400, height = 300): Sharp {
  const rows = Array.from(
    { length: 40 },
    (_, i) =>
      `<text x="${(i * 37) % 90}" y="${20 + i * 14}" font-size="12" fill="${colourOf(i)}">` +
      `const row${i} = measure(${i * 31}, "the quick brown fox ${i}")</text>`,
  )
  return onPaper(width, height, rows)
}

/** Flat areas and lines, without text: its size doesn't depend on installed fonts. */
export function drawing(width = 400, height = 300): Sharp {
  const lines = Array.from({ length: 120 }, (_, i) => {
    const [x1, y1, x2, y2] = [(i * 37) % width, (i * 91) % height, (i * 151) % width, (i * 59) % height]
    return `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="${colourOf(i)}"/>`
  })
  return onPaper(width, height, lines)
}

function onPaper(width: number, height: number, shapes: string[]): Sharp {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="100%" height="100%" fill="#fdfdf8"/>${shapes.join('')}</svg>`
  return sharp(Buffer.from(svg)).flatten({ background: 'white' })
}

export const GPS = {
  IFD0: { Make: 'Camera', Model: 'Obscura' },
  IFD3: {
    GPSLatitudeRef: 'N',
    GPSLatitude: '51/1 30/1 3230/100',
    GPSLongitudeRef: 'W',
    GPSLongitude: '0/1 7/1 3000/100',
  },
}

/** A PNG with a valid structure whose pixels can't be decompressed: it passes inspection and breaks the codec. */
export async function brokenPng(): Promise<Buffer> {
  const chunks = pngChunks(await screenshot(200, 100).png().toBuffer())
  return pngOf(
    chunks.map(({ type, body }) => {
      if (type !== 'IDAT') return { type, body }
      const start = body.subarray(0, 40)
      return { type, body: Buffer.concat([start, noise(body.length - start.length)]) }
    }),
  )
}

export interface Raw {
  data: Buffer
  width: number
  height: number
}

/** Pixels in displayed orientation, without applying the colour profile. */
export async function rgba(image: Uint8Array | Blob): Promise<Raw> {
  const bytes = image instanceof Blob ? await image.bytes() : image
  const { data, info } = await sharp(bytes, { ignoreIcc: true })
    .rotate()
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true })
  return { data, width: info.width, height: info.height }
}

/** Difference between two images, on average and in the worst 8 × 8 block. Unit: levels of 255. */
export function distance(a: Raw, b: Raw): { mean: number; worst: number } {
  const { width, height } = a
  if (width !== b.width || height !== b.height) return { mean: 255, worst: 255 }
  const sums = new Map<number, number>()
  let sum = 0
  for (let i = 0; i < a.data.length; i++) {
    const difference = Math.abs(a.data[i]! - b.data[i]!)
    const pixel = i >> 2
    const area = (((pixel / width) | 0) >> 3) * 10_000 + ((pixel % width) >> 3)
    sum += difference
    sums.set(area, (sums.get(area) ?? 0) + difference / 256)
  }
  return { mean: sum / a.data.length, worst: Math.max(...sums.values()) }
}

/** Unlike `deepEqual`, doesn't list every difference, which takes minutes. */
export function sameBytes(actual: Uint8Array, expected: Uint8Array): void {
  const text = `${actual.length} and ${expected.length} bytes differ`
  assert.equal(Buffer.compare(actual, expected), 0, text)
}

export async function metadata(blob: Blob) {
  return sharp(await blob.bytes()).metadata()
}

/** Mean absolute difference of the displayed pixel values of two images. */
export async function meanDifference(one: Buffer, other: Buffer): Promise<number> {
  const raw = (file: Buffer) => sharp(file, { ignoreIcc: true }).autoOrient().removeAlpha().raw().toBuffer()
  return meanOfDifferences(await raw(one), await raw(other))
}

/** Mean absolute difference of two lists of equal length. */
export function meanOfDifferences(a: Uint8Array | Float32Array, b: Uint8Array | Float32Array): number {
  assert.equal(a.length, b.length)
  let sum = 0
  for (const [i, value] of a.entries()) sum += Math.abs(value - b[i]!)
  return sum / a.length
}
