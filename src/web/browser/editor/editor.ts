/** Crop, rotate and redact, before a picture leaves the device. Fetched when somebody asks for it. */
import '../../style/editor.css'
import { blobSource } from '../../../client/blob-source.ts'
import { inspect } from '../../../formats/inspect.ts'
import { fill } from '../../messages/wording.ts'
import { canvasIsTrue } from '../card/thumbnail.ts'
import { facts } from '../upload/facts.ts'
import { createBoxes } from './boxes.ts'
import { type Edits, isEdited, noEdits, turned } from './edits.ts'
import { createFrame, type Frame } from './frame.ts'
import { draw, render } from './render.ts'

const words = facts.editor

/** Shows each picture in turn. Gives those that are to be sent, as they are to be sent. */
export async function edit(files: File[]): Promise<File[]> {
  const frame = createFrame(words)
  const chosen: File[] = []
  try {
    for (const [index, file] of files.entries()) {
      const progress =
        files.length > 1 ? fill(words.progress, { number: index + 1, count: files.length }) : ''
      const edited = await editOne(file, frame, progress)
      if (edited) chosen.push(edited)
    }
  } finally {
    frame.close()
  }
  return chosen
}

/** `null`: it is not to be sent. */
async function editOne(file: File, frame: Frame, progress: string): Promise<File | null> {
  const picture = await open(file)
  if (typeof picture === 'string') {
    const answer = await frame.ask({ progress, problem: picture })
    return answer === 'cancel' ? null : file
  }
  try {
    return await withEdits(file, picture, frame, progress)
  } finally {
    picture.close()
  }
}

/** The decoded picture, or why it can't be edited. */
async function open(file: File): Promise<ImageBitmap | string> {
  try {
    if (!canvasIsTrue()) return words.impossible
    const { animated, type } = await inspect(blobSource(file))
    if (animated || type === 'image/gif') return words.animated
    return await createImageBitmap(file, { imageOrientation: 'from-image' })
  } catch {
    return words.impossible
  }
}

async function withEdits(
  file: File,
  picture: ImageBitmap,
  frame: Frame,
  progress: string,
): Promise<File | null> {
  let edits = noEdits(picture.width, picture.height)
  const earlier: Edits[] = []

  function change(next: Edits, isWhole = true): void {
    if (isWhole) earlier.push(edits)
    edits = next
    show()
  }

  function show(): void {
    const context = frame.resize(edits.width, edits.height)
    draw(context, picture, edits, context.canvas.width / edits.width)
    boxes.show()
    frame.canUndo(earlier.length > 0)
  }

  const boxes = createBoxes({
    layer: frame.newLayer(),
    words,
    edits: () => edits,
    isCropping: frame.isCropping,
    change,
    say: frame.say,
  })
  frame.onRotate = () => change(turned(edits))
  frame.onAdd = boxes.add
  frame.onUndo = () => {
    const before = earlier.pop()
    if (before) edits = before
    show()
  }
  show()
  const answer = await frame.ask({ progress })
  if (answer === 'cancel') return null
  if (answer === 'as-it-is' || !isEdited(edits)) return file
  try {
    return await render(file, picture, edits)
  } catch {
    // What was to be hidden is never sent unhidden by accident.
    const after = await frame.ask({ progress, problem: words.impossible })
    return after === 'as-it-is' ? file : null
  }
}
