/** Renders the edited picture. Redactions are painted before encoding, so no redacted pixel survives. */
import { type Box, type Edits, type Mark, rotated } from './edits.ts'

type Context = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D

/** High, because the result is compressed once more like any upload. */
const JPEG_QUALITY = 0.95

/** A colour with a contrasting outline is visible on any picture. */
const COLOUR = '#e11d12'
const OUTLINE = '#fff'

/** Length and half width of an arrowhead. Unit: line widths. */
const HEAD = [4.5, 2.2] as const

/**
 * Draws the picture and its marks, uncropped, at the context's scale. `visible`: draws only this part of the picture, because
 * scaling a whole large picture is slow.
 */
export function draw(context: Context, picture: ImageBitmap, edits: Edits, visible?: Box): void {
  const { turns, width, height, marks } = edits
  const part = visible
    ? unrotated(visible, edits)
    : { x: 0, y: 0, width: picture.width, height: picture.height }
  context.save()
  context.translate(width / 2, height / 2)
  context.rotate((turns * Math.PI) / 2)
  const [left, top] = [part.x - picture.width / 2, part.y - picture.height / 2]
  context.drawImage(picture, part.x, part.y, part.width, part.height, left, top, part.width, part.height)
  context.restore()
  for (const mark of marks) drawMark(context, mark)
}

/** The box in coordinates of the unrotated picture. */
function unrotated(box: Box, { turns, width, height }: Edits): Box {
  let result = { width, height, marks: [], crop: box, turns }
  for (let turn = turns; turn % 4 !== 0; turn++) result = rotated(result) as typeof result
  return result.crop
}

function drawMark(context: Context, mark: Mark): void {
  const { kind, box, points, line } = mark
  if (kind === 'redact') {
    context.fillStyle = '#000'
    context.fillRect(box.x, box.y, box.width, box.height)
  } else if (kind === 'text') {
    drawText(context, mark)
  } else {
    const path = pathOf(
      kind,
      points.map(([x, y]) => [box.x + x * box.width, box.y + y * box.height] as const),
      line,
    )
    context.lineCap = context.lineJoin = 'round'
    context.strokeStyle = OUTLINE
    context.lineWidth = line * 1.8
    context.stroke(path)
    context.strokeStyle = COLOUR
    context.lineWidth = line
    context.stroke(path)
  }
}

function pathOf(kind: Mark['kind'], points: (readonly [number, number])[], line: number): Path2D {
  const path = new Path2D()
  for (const [index, [x, y]] of points.entries()) {
    if (index === 0) path.moveTo(x, y)
    // A single point becomes a dot.
    path.lineTo(x, y)
  }
  const [from, to] = [points[0], points.at(-1)]
  if (kind === 'arrow' && from && to) {
    const angle = Math.atan2(to[1] - from[1], to[0] - from[0])
    for (const side of [1, -1]) {
      const [back, out] = [HEAD[0] * line, HEAD[1] * line * side]
      path.moveTo(to[0], to[1])
      path.lineTo(
        to[0] - back * Math.cos(angle) + out * Math.sin(angle),
        to[1] - back * Math.sin(angle) - out * Math.cos(angle),
      )
    }
  }
  return path
}

const FONT = '600 1px system-ui, sans-serif'
/** Line height and outline width relative to the font size. */
const LINE_HEIGHT = 1.3
const OUTLINE_WIDTH = 0.2

/** Width of a text with its outline, divided by its line height. */
export function textAspectRatio(text: string): number {
  const context = new OffscreenCanvas(1, 1).getContext('2d')!
  context.font = FONT.replace('1px', '100px')
  return Math.max(0.5, (context.measureText(text).width / 100 + OUTLINE_WIDTH) / LINE_HEIGHT)
}

/** Draws the text as large as its box allows. */
function drawText(context: Context, { box, text, turns }: Mark): void {
  const isHorizontal = turns % 2 === 0
  const [width, height] = isHorizontal ? [box.width, box.height] : [box.height, box.width]
  const size = Math.min(height, width / textAspectRatio(text)) / LINE_HEIGHT
  context.save()
  context.translate(box.x + box.width / 2, box.y + box.height / 2)
  context.rotate((turns * Math.PI) / 2)
  context.font = FONT.replace('1px', `${size}px`)
  context.textAlign = 'center'
  context.textBaseline = 'middle'
  context.lineJoin = 'round'
  context.strokeStyle = OUTLINE
  context.lineWidth = size * OUTLINE_WIDTH
  context.strokeText(text, 0, 0)
  context.fillStyle = COLOUR
  context.fillText(text, 0, 0)
  context.restore()
}

/** Encodes the edited picture as a new file without metadata. A JPEG stays JPEG; everything else becomes lossless PNG. */
export async function render(file: File, picture: ImageBitmap, edits: Edits): Promise<File> {
  const { x, y, width, height } = edits.crop ?? { x: 0, y: 0, width: edits.width, height: edits.height }
  const canvas = new OffscreenCanvas(width, height)
  const context = canvas.getContext('2d')!
  context.translate(-x, -y)
  draw(context, picture, edits)
  const type = file.type === 'image/jpeg' ? 'image/jpeg' : 'image/png'
  const blob = await canvas.convertToBlob({ type, quality: JPEG_QUALITY })
  const name = file.name.replace(/\.\w+$/, '')
  return new File([blob], `${name}.${type === 'image/jpeg' ? 'jpg' : 'png'}`, { type })
}
