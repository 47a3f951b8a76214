/** Draws what will be sent. What is redacted is painted over before anything is encoded: no pixel of it is left to find. */
import type { Edits } from './edits.ts'

type Context = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D

/** Quality of the encoder: its result is compressed once more, like any picture. */
const JPEG_QUALITY = 0.95

/** Draws all of it, `scale` times as large, crop not applied. */
export function draw(context: Context, picture: ImageBitmap, edits: Edits, scale: number): void {
  const { turns, width, height, redacted } = edits
  context.save()
  context.scale(scale, scale)
  context.translate(width / 2, height / 2)
  context.rotate((turns * Math.PI) / 2)
  context.drawImage(picture, -picture.width / 2, -picture.height / 2)
  context.restore()
  context.fillStyle = '#000'
  for (const box of redacted) {
    context.fillRect(box.x * scale, box.y * scale, box.width * scale, box.height * scale)
  }
}

/** A file of its own, without metadata. A photograph stays JPEG; everything else is PNG, pixel for pixel. */
export async function render(file: File, picture: ImageBitmap, edits: Edits): Promise<File> {
  const { x, y, width, height } = edits.crop ?? { x: 0, y: 0, width: edits.width, height: edits.height }
  const canvas = new OffscreenCanvas(width, height)
  const context = canvas.getContext('2d')
  if (!context) throw new TypeError('no canvas')
  context.translate(-x, -y)
  draw(context, picture, edits, 1)
  const type = file.type === 'image/jpeg' ? 'image/jpeg' : 'image/png'
  const blob = await canvas.convertToBlob({ type, quality: JPEG_QUALITY })
  const name = file.name.replace(/\.\w+$/, '')
  return new File([blob], `${name}.${type === 'image/jpeg' ? 'jpg' : 'png'}`, { type })
}
