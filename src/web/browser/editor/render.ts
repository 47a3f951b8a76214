/** Draws what will be sent. What is redacted is painted over before anything is encoded: no pixel of it is left to find. */
import { type Box, type Edits, type Mark, turned } from './edits.ts'

type Context = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D

/** Quality of the encoder: its result is compressed once more, like any picture. */
const JPEG_QUALITY = 0.95

/** Seen on any picture: the one colour within the other. */
const COLOUR = '#e11d12'
const OUTLINE = '#fff'

/** Length and half width of an arrow's head, in widths of its line. */
const HEAD = [4.5, 2.2] as const

/**
 * Draws all of it, crop not applied, by the context's own scale. `seen`: the part of the picture that is looked at; of a
 * large one a browser takes long to scale the rest.
 */
export function draw(context: Context, picture: ImageBitmap, edits: Edits, seen?: Box): void {
  const { turns, width, height, marks } = edits
  const part = seen ? turnedBack(seen, edits) : { x: 0, y: 0, width: picture.width, height: picture.height }
  context.save()
  context.translate(width / 2, height / 2)
  context.rotate((turns * Math.PI) / 2)
  const [left, top] = [part.x - picture.width / 2, part.y - picture.height / 2]
  context.drawImage(picture, part.x, part.y, part.width, part.height, left, top, part.width, part.height)
  context.restore()
  for (const mark of marks) drawMark(context, mark)
}

/** Where a box lay before the picture's turns. */
function turnedBack(box: Box, { turns, width, height }: Edits): Box {
  let before = { width, height, marks: [], crop: box, turns }
  for (let turn = turns; turn % 4 !== 0; turn++) before = turned(before) as typeof before
  return before.crop
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
    // A press without a way is a dot.
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
/** Height of a line of text, in sizes of its letters. */
const LINE_HEIGHT = 1.3

/** How wide a text is, of which one line is one pixel high. */
export function textShape(text: string): number {
  const context = new OffscreenCanvas(1, 1).getContext('2d')!
  context.font = FONT.replace('1px', '100px')
  return Math.max(0.5, context.measureText(text).width / 100 / LINE_HEIGHT)
}

/** As large as its box allows. */
function drawText(context: Context, { box, text, turns }: Mark): void {
  const isUpright = turns % 2 === 0
  const [width, height] = isUpright ? [box.width, box.height] : [box.height, box.width]
  const size = Math.min(height, width / textShape(text)) / LINE_HEIGHT
  context.save()
  context.translate(box.x + box.width / 2, box.y + box.height / 2)
  context.rotate((turns * Math.PI) / 2)
  context.font = FONT.replace('1px', `${size}px`)
  context.textAlign = 'center'
  context.textBaseline = 'middle'
  context.lineJoin = 'round'
  context.strokeStyle = OUTLINE
  context.lineWidth = size / 5
  context.strokeText(text, 0, 0)
  context.fillStyle = COLOUR
  context.fillText(text, 0, 0)
  context.restore()
}

/** A file of its own, without metadata. A photograph stays JPEG; everything else is PNG, pixel for pixel. */
export async function render(file: File, picture: ImageBitmap, edits: Edits): Promise<File> {
  const { x, y, width, height } = edits.crop ?? { x: 0, y: 0, width: edits.width, height: edits.height }
  const canvas = new OffscreenCanvas(width, height)
  const context = canvas.getContext('2d')
  if (!context) throw new TypeError('no canvas')
  context.translate(-x, -y)
  draw(context, picture, edits)
  const type = file.type === 'image/jpeg' ? 'image/jpeg' : 'image/png'
  const blob = await canvas.convertToBlob({ type, quality: JPEG_QUALITY })
  const name = file.name.replace(/\.\w+$/, '')
  return new File([blob], `${name}.${type === 'image/jpeg' ? 'jpg' : 'png'}`, { type })
}
