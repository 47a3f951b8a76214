/** Images with a preview behind their end. */
import sharp from 'sharp'
import { frameAround } from '../../../src/formats/preview-frame.ts'
import { picture } from './pictures.ts'

/** One file: the image, and the preview in its frame. */
export function framed(image: Uint8Array, preview: Uint8Array): Buffer {
  const { head, foot } = frameAround(preview.length)
  return Buffer.concat([image, head, preview, foot])
}

export interface Previewed {
  image: Buffer
  preview: Buffer
  /** As it is sent. */
  file: Buffer
}

const WIDTH = 160
const HEIGHT = 120

/** A picture that no other call gives. `format`: of the image. */
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
