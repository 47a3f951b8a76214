/** Images followed by a framed preview. */
import { randomBytes } from 'node:crypto'
import sharp from 'sharp'
import { previewFrame } from '../../../src/formats/preview-frame.ts'
import { picture } from './pictures.ts'

/** Combines an image and its framed preview into one file. */
export function framed(image: Uint8Array, preview: Uint8Array): Buffer {
  const { head, foot } = previewFrame(preview.length)
  return Buffer.concat([image, head, preview, foot])
}

export interface Previewed {
  image: Buffer
  preview: Buffer
  /** The file to upload: the image and its framed preview. */
  file: Buffer
}

const WIDTH = 160
const HEIGHT = 120

/** By default, a different image on each call. `format`: that of the image, not of the preview. */
export async function previewed(
  format: 'jpeg' | 'png' | 'webp' | 'avif' | 'gif' = 'jpeg',
  seed = Math.floor(Math.random() * 2 ** 32),
): Promise<Previewed> {
  const pixels = await picture({ width: WIDTH, height: HEIGHT, seed }).png().toBuffer()
  const image = await sharp(pixels).toFormat(format).toBuffer()
  const preview = await sharp(pixels)
    .resize(WIDTH / 2)
    .jpeg()
    .toBuffer()
  return { image, preview, file: framed(image, preview) }
}

const SIDE = 8
const tiny = await sharp({ create: { width: SIDE, height: SIDE, channels: 3, background: '#369' } })
  .jpeg()
  .toBuffer()

/** An image of `size` bytes with a preview, cheap to make, for load tests. Decoders see one block, then noise. */
export function filledPreviewed(size: number): Previewed {
  const image = filledJpeg(size)
  const preview = filledJpeg(500 + Math.floor(Math.random() * 30_000))
  return { image, preview, file: framed(image, preview) }
}

/** A baseline JPEG whose scan is padded with random bytes. */
function filledJpeg(size: number): Buffer {
  const noise = randomBytes(Math.max(16, size - tiny.length))
  // 0xff would start a marker.
  for (const [at, byte] of noise.entries()) if (byte === 0xff) noise[at] = 0x7f
  return Buffer.concat([tiny.subarray(0, -2), noise, tiny.subarray(-2)])
}
