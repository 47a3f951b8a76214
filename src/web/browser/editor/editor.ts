/** Redact, crop, rotate, point at and write on pictures before they leave the device. Fetched when somebody asks for it. */
import '../../style/editor.css'
import { blobSource } from '../../../client/blob-source.ts'
import { hasTrueCanvas } from '../../../client/compress/platform.ts'
import { inspect } from '../../../formats/inspect.ts'
import { rawPath } from '../../../protocol.ts'
import { fill } from '../../messages/wording.ts'
import type { Remembered } from '../history/history.ts'
import { facts } from '../upload/facts.ts'
import {
  between,
  createSteps,
  type Edits,
  fitted,
  isEdited,
  type Mark,
  noEdits,
  type Point,
  turned,
} from './edits.ts'
import { type Action, createFrame, type Frame, type Tool, type WaysOut } from './frame.ts'
import { type Drag, takeGestures } from './gestures.ts'
import { createMarks, type Name } from './marks.ts'
import { render, textShape } from './render.ts'
import { createStage } from './stage.ts'

const words = facts.editor

/** A line's width, and a text's height, as they are drawn on the screen. Unit: CSS pixels. */
const LINE_PX = 5
const TEXT_PX = 32

/** The way of an arrow that is added: from the lower left to the upper right. */
const RISING: Point[] = [
  [0, 1],
  [1, 0],
]

/** A press of a button zooms by so much. */
const ZOOM_STEP = 1.6

/** Shows each picture in turn. Gives those that are to be sent, as they are to be sent. */
export async function edit(files: File[], waysOut: WaysOut = words): Promise<File[]> {
  const frame = createFrame(words, waysOut)
  const chosen: File[] = []
  try {
    for (const [index, file] of files.entries()) {
      const count = files.length
      // What has been through is not sent before the last has: nobody is to leave in between and think that it was.
      const sentence = index + 1 < count ? words.progressSoFar : words.progress
      const progress = count > 1 ? fill(sentence, { number: index + 1, count }) : ''
      const edited = await editOne(file, frame, progress)
      if (edited) chosen.push(edited)
    }
  } finally {
    frame.close()
  }
  return chosen
}

/**
 * Edits a picture that is on the page's list: a file, or one that is on the service. `null`: it was left as it is.
 * Rejects if its bytes can't be had.
 */
export async function editAgain(source: File | Remembered): Promise<File | null> {
  const isOnline = !(source instanceof File)
  const file = isOnline ? await fetchFile(source) : source
  // Leaving loses nothing: the picture is on the list. One that is online stays there beside what is made of it.
  const [edited] = await edit([file], { cancel: words.close, send: isOnline ? words.sendNew : words.send })
  return edited && edited !== file ? edited : null
}

async function fetchFile({ id, name, type }: Remembered): Promise<File> {
  const answer = await fetch(rawPath(id))
  if (!answer.ok) throw new TypeError(`${answer.status}`)
  return new File([await answer.blob()], name, { type })
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
    frame.hasChanges = () => false
    picture.close()
  }
}

/** The decoded picture, or why it can't be edited. */
async function open(file: File): Promise<ImageBitmap | string> {
  try {
    if (!hasTrueCanvas()) return words.impossible
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
  const steps = createSteps(noEdits(picture.width, picture.height))
  const { element, canvas } = frame.newStage()
  const stage = createStage(element, canvas)
  const marks = createMarks({
    stage,
    words,
    edits: () => steps.now,
    draft,
    commit,
    onSelect: settle,
    say: frame.say,
  })

  function draft(edits: Edits): void {
    steps.draft(edits)
    show()
  }

  function commit(): void {
    steps.commit()
    show()
  }

  function show(): void {
    stage.show(picture, steps.now)
    marks.show()
    settle()
  }

  function settle(): void {
    const { selected } = marks
    frame.allow('undo', steps.canUndo)
    frame.allow('redo', steps.canRedo)
    frame.allow('remove', selected !== null)
    frame.allow('add', ['redact', 'crop', 'arrow', 'text'].includes(frame.tool()))
    const mark = markOf(selected)
    frame.showText(mark?.kind === 'text' ? mark.text : null)
  }

  const markOf = (name: Name | null): Mark | undefined =>
    typeof name === 'number' ? steps.now.marks[name] : undefined

  /** Adds a mark on the way, and gives its name. */
  function add(kind: Mark['kind'], box: Mark['box'], more: Partial<Mark> = {}): Name {
    const line = Math.max(1, LINE_PX / stage.scale)
    const mark: Mark = { kind, box: fitted(box, steps.now), points: [], line, text: '', turns: 0, ...more }
    draft({ ...steps.now, marks: [...steps.now.marks, mark] })
    return steps.now.marks.length - 1
  }

  /** A text at a place, to be written. */
  function addText(x: number, y: number): void {
    const height = TEXT_PX / stage.scale
    const name = add('text', { x, y: y - height / 2, width: height, height })
    marks.select(name)
    frame.focusText()
  }

  function write(text: string): void {
    const name = marks.selected
    const mark = markOf(name)
    if (mark?.kind !== 'text' || typeof name !== 'number') return
    // Its height stays, and so does where it begins.
    const { box, turns } = mark
    const isUpright = turns % 2 === 0
    const length = (isUpright ? box.height : box.width) * textShape(text)
    const next = { ...mark, text, box: { ...box, ...(isUpright ? { width: length } : { height: length }) } }
    draft({ ...steps.now, marks: steps.now.marks.map((other, index) => (index === name ? next : other)) })
  }

  /** A text without a word is none. */
  function endWriting(): void {
    const { marks: all } = steps.now
    const written = all.filter(({ kind, text }) => kind !== 'text' || text.trim() !== '')
    if (written.length < all.length) draft({ ...steps.now, marks: written })
    commit()
  }

  function draw(tool: Tool, down: PointerEvent): Drag | null {
    endWriting()
    const held = marks.at(down.target)
    const [x0, y0] = stage.toPicture(down.clientX, down.clientY)
    if (held) return pull(held, x0, y0)
    if (tool === 'move' || tool === 'text') return null
    if (tool === 'crop') {
      return {
        to(clientX, clientY) {
          draft({
            ...steps.now,
            crop: fitted(between(x0, y0, ...stage.toPicture(clientX, clientY)), steps.now),
          })
        },
        end: () => endDrag('crop'),
        abort,
      }
    }
    const name = steps.now.marks.length
    const way: (readonly [number, number])[] = [[x0, y0]]
    return {
      to(clientX, clientY) {
        const to = stage.toPicture(clientX, clientY)
        if (tool === 'pen') way.push(to)
        else way[1] = to
        const xs = way.map(([x]) => x)
        const ys = way.map(([, y]) => y)
        const box = between(Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys))
        const points =
          tool === 'redact'
            ? []
            : way.map(([x, y]) => [share(x, box.x, box.width), share(y, box.y, box.height)] as const)
        steps.abort()
        add(tool, box, { points })
      },
      // The next stroke of a pen begins where it likes.
      end: () => endDrag(tool === 'pen' ? null : name),
      abort,
    }
  }

  function pull({ name, corner }: NonNullable<ReturnType<typeof marks.at>>, x0: number, y0: number): Drag {
    const box = name === 'crop' ? steps.now.crop! : steps.now.marks[name]!.box
    marks.select(name)
    return {
      to(clientX, clientY) {
        const [x, y] = stage.toPicture(clientX, clientY)
        marks.put(name, marks.pulled(box, corner, x - x0, y - y0))
      },
      end: () => endDrag(name),
      abort,
    }
  }

  function endDrag(name: Name | null): void {
    commit()
    marks.select(name, true)
  }

  function abort(): void {
    steps.abort()
    show()
  }

  takeGestures({
    stage,
    begin: (down) => draw(frame.tool(), down),
    onPress(event) {
      endWriting()
      const held = marks.at(event.target)
      if (held) marks.select(held.name, true)
      else if (frame.tool() === 'text') addText(...stage.toPicture(event.clientX, event.clientY))
      else marks.select(null)
    },
  })

  /** In the middle of what is in sight, for whoever does not draw. */
  function addInSight(): void {
    endWriting()
    const tool = frame.tool()
    const sight = stage.inSight()
    if (tool === 'text') {
      addText(sight.x + sight.width / 3, sight.y + sight.height / 2)
      return
    }
    const part = tool === 'crop' ? 0.8 : 0.3
    const box = {
      x: Math.round(sight.x + (sight.width * (1 - part)) / 2),
      y: Math.round(sight.y + (sight.height * (1 - part)) / 2),
      width: Math.round(sight.width * part),
      height: Math.round(sight.height * part),
    }
    if (tool === 'crop') {
      draft({ ...steps.now, crop: fitted(box, steps.now) })
      endDrag('crop')
    } else if (tool === 'redact' || tool === 'arrow') {
      endDrag(add(tool, box, { points: tool === 'arrow' ? RISING : [] }))
    }
  }

  const acts: Record<Action, () => void> = {
    undo: () => steps.undo(),
    redo: () => steps.redo(),
    rotate() {
      steps.draft(turned(steps.now))
      steps.commit()
    },
    zoomIn: () => stage.zoom(ZOOM_STEP),
    zoomOut: () => stage.zoom(1 / ZOOM_STEP),
    add: addInSight,
    remove() {
      if (marks.selected !== null) marks.remove(marks.selected)
    },
  }
  frame.hasChanges = () => isEdited(steps.now)
  frame.onTool = settle
  frame.onAction = (action) => {
    if (action !== 'add') endWriting()
    acts[action]()
    show()
  }
  frame.onText = write
  frame.onTextEnd = endWriting
  show()
  try {
    const answer = await frame.ask({ progress })
    endWriting()
    if (answer === 'cancel') return null
    if (answer === 'as-it-is' || !isEdited(steps.now)) return file
    return await render(file, picture, steps.now)
  } catch {
    // What was to be hidden is never sent unhidden by accident.
    const after = await frame.ask({ progress, problem: words.impossible })
    return after === 'as-it-is' ? file : null
  } finally {
    stage.close()
  }
}

/** Where a value lies between `start` and `start + length`, from 0 to 1. */
function share(value: number, start: number, length: number): number {
  return length === 0 ? 0.5 : (value - start) / length
}
