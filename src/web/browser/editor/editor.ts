/** Picture editor: redact, crop, rotate and annotate before the upload. Loaded on demand. */
import '../../style/editor.css'
import { blobSource } from '../../../client/blob-source.ts'
import { hasFaithfulCanvas } from '../../../client/compress/platform.ts'
import { inspect } from '../../../formats/inspect.ts'
import { rawPath } from '../../../protocol.ts'
import { fill } from '../../messages/wording.ts'
import type { HistoryEntry } from '../history/history.ts'
import { facts } from '../upload/facts.ts'
import {
  boxBetween,
  createSteps,
  type Edits,
  fitToPicture,
  isEdited,
  type Mark,
  noEdits,
  type Point,
  rotated,
  shrunkToPicture,
} from './edits.ts'
import { type Action, createFrame, type ExitLabels, type Frame, type Tool } from './frame.ts'
import { type Drag, handleGestures } from './gestures.ts'
import { createMarks, type MarkId } from './marks.ts'
import { render, textAspectRatio } from './render.ts'
import { createStage } from './stage.ts'

const words = facts.editor

/** Width of new lines and height of new text, as drawn on the screen. Unit: CSS pixels. */
const LINE_PX = 5
const TEXT_PX = 32

/** Path of an arrow added by button: from the lower left to the upper right. */
const DEFAULT_ARROW: Point[] = [
  [0, 1],
  [1, 0],
]

/** Zoom factor of a button press. */
const ZOOM_STEP = 1.6

/** Edits the pictures one after the other. Resolves with the files to send. */
export async function edit(files: File[], exitLabels: ExitLabels = words): Promise<File[]> {
  const frame = createFrame(words, exitLabels)
  const chosen: File[] = []
  try {
    for (const [index, file] of files.entries()) {
      const count = files.length
      // Nothing is sent before the last picture is done, so the text says so: nobody should leave early believing otherwise.
      const template = index + 1 < count ? words.progressSoFar : words.progress
      const progress = count > 1 ? fill(template, { number: index + 1, count }) : ''
      const edited = await editOne(file, frame, progress)
      if (edited) chosen.push(edited)
    }
  } finally {
    frame.close()
  }
  return chosen
}

/**
 * Edits a picture on the page's list: a local file or an uploaded picture. `null`: no changes. Rejects if the picture can't
 * be fetched.
 */
export async function editAgain(source: File | HistoryEntry): Promise<File | null> {
  const isOnline = !(source instanceof File)
  const file = isOnline ? await fetchFile(source) : source
  // Closing loses nothing, because the picture stays on the list. An uploaded picture stays online beside its edited copy.
  const [edited] = await edit([file], { cancel: words.close, send: isOnline ? words.sendNew : words.send })
  return edited && edited !== file ? edited : null
}

async function fetchFile({ id, name, type }: HistoryEntry): Promise<File> {
  const answer = await fetch(rawPath(id))
  if (!answer.ok) throw new TypeError(`${answer.status}`)
  return new File([await answer.blob()], name, { type })
}

/** `null`: don't send it. */
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

/** The decoded picture, or the reason why it can't be edited. */
async function open(file: File): Promise<ImageBitmap | string> {
  try {
    if (!hasFaithfulCanvas()) return words.impossible
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
    onSelect: updateControls,
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
    updateControls()
  }

  function updateControls(): void {
    const { selected } = marks
    frame.allow('undo', steps.canUndo)
    frame.allow('redo', steps.canRedo)
    frame.allow('remove', selected !== null)
    frame.allow('add', ['redact', 'crop', 'arrow', 'text'].includes(frame.tool()))
    const mark = markOf(selected)
    frame.showText(mark?.kind === 'text' ? mark.text : null)
  }

  const markOf = (name: MarkId | null): Mark | undefined =>
    typeof name === 'number' ? steps.now.marks[name] : undefined

  /** Adds an uncommitted mark and returns its ID. */
  function add(kind: Mark['kind'], box: Mark['box'], more: Partial<Mark> = {}): MarkId {
    const line = Math.max(1, LINE_PX / stage.scale)
    const fitted = fitToPicture(box, steps.now)
    const mark: Mark = { kind, box: fitted, points: [], line, text: '', turns: 0, ...more }
    draft({ ...steps.now, marks: [...steps.now.marks, mark] })
    return steps.now.marks.length - 1
  }

  /** Adds an empty text and focuses its field. */
  function addText(x: number, y: number): void {
    const height = TEXT_PX / stage.scale
    const name = add('text', { x, y: y - height / 2, width: height, height })
    marks.select(name)
    frame.focusText()
  }

  function setText(text: string): void {
    const name = marks.selected
    const mark = markOf(name)
    if (mark?.kind !== 'text' || typeof name !== 'number') return
    // Keep the height and the starting point.
    const { box, turns } = mark
    const isHorizontal = turns % 2 === 0
    const length = Math.ceil((isHorizontal ? box.height : box.width) * textAspectRatio(text))
    const next = { ...mark, text, box: { ...box, [isHorizontal ? 'width' : 'height']: length } }
    draft({ ...steps.now, marks: steps.now.marks.with(name, next) })
  }

  /** Commits, drops texts without words, and moves the others inside the picture. */
  function commitText(): void {
    const { marks: all } = steps.now
    const kept = all
      .filter(({ kind, text }) => kind !== 'text' || text.trim() !== '')
      .map((mark) => {
        const box = shrunkToPicture(mark.box, steps.now)
        return box === mark.box ? mark : { ...mark, box }
      })
    if (kept.length < all.length) marks.select(null)
    if (all.some((mark, index) => mark !== kept[index])) draft({ ...steps.now, marks: kept })
    commit()
  }

  function beginDrag(tool: Tool, down: PointerEvent): Drag | null {
    commitText()
    const grabbed = marks.at(down)
    const [x0, y0] = stage.toPicture(down.clientX, down.clientY)
    if (grabbed) return dragMark(grabbed, x0, y0)
    if (tool === 'move' || tool === 'text') return null
    if (tool === 'crop') {
      return {
        to(clientX, clientY) {
          draft({
            ...steps.now,
            crop: fitToPicture(boxBetween(x0, y0, ...stage.toPicture(clientX, clientY)), steps.now),
          })
        },
        end: () => endDrag('crop'),
        abort,
      }
    }
    const name = steps.now.marks.length
    const path: (readonly [number, number])[] = [[x0, y0]]
    return {
      to(clientX, clientY) {
        const to = stage.toPicture(clientX, clientY)
        if (tool === 'pen') path.push(to)
        else path[1] = to
        const xs = path.map(([x]) => x)
        const ys = path.map(([, y]) => y)
        const box = boxBetween(Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys))
        const points =
          tool === 'redact'
            ? []
            : path.map(([x, y]) => [fraction(x, box.x, box.width), fraction(y, box.y, box.height)] as const)
        steps.abort()
        add(tool, box, { points })
      },
      // Don't select a stroke: the next one may start on top of it.
      end: () => endDrag(tool === 'pen' ? null : name),
      abort,
    }
  }

  function dragMark(
    { name, corner }: NonNullable<ReturnType<typeof marks.at>>,
    x0: number,
    y0: number,
  ): Drag {
    const box = name === 'crop' ? steps.now.crop! : steps.now.marks[name]!.box
    marks.select(name)
    return {
      to(clientX, clientY) {
        const [x, y] = stage.toPicture(clientX, clientY)
        marks.setBox(name, marks.resized(box, corner, x - x0, y - y0))
      },
      end: () => endDrag(name),
      abort,
    }
  }

  function endDrag(name: MarkId | null): void {
    commit()
    marks.select(name, true)
  }

  function abort(): void {
    steps.abort()
    show()
  }

  handleGestures({
    stage,
    begin: (down) => beginDrag(frame.tool(), down),
    onPress(event) {
      commitText()
      const grabbed = marks.at(event)
      if (grabbed) marks.select(grabbed.name, true)
      else if (frame.tool() === 'text') addText(...stage.toPicture(event.clientX, event.clientY))
      else marks.select(null)
    },
  })

  /** Adds a mark in the middle of the visible part, without drawing it by pointer. */
  function addInView(): void {
    commitText()
    const tool = frame.tool()
    const visible = stage.visibleBox()
    if (tool === 'text') {
      addText(visible.x + visible.width / 3, visible.y + visible.height / 2)
      return
    }
    const part = tool === 'crop' ? 0.8 : 0.3
    const box = {
      x: Math.round(visible.x + (visible.width * (1 - part)) / 2),
      y: Math.round(visible.y + (visible.height * (1 - part)) / 2),
      width: Math.round(visible.width * part),
      height: Math.round(visible.height * part),
    }
    if (tool === 'crop') {
      draft({ ...steps.now, crop: fitToPicture(box, steps.now) })
      endDrag('crop')
    } else if (tool === 'redact' || tool === 'arrow') {
      endDrag(add(tool, box, { points: tool === 'arrow' ? DEFAULT_ARROW : [] }))
    }
  }

  const handlers: Record<Action, () => void> = {
    undo: () => steps.undo(),
    redo: () => steps.redo(),
    rotate() {
      steps.draft(rotated(steps.now))
      steps.commit()
    },
    zoomIn: () => stage.zoom(ZOOM_STEP),
    zoomOut: () => stage.zoom(1 / ZOOM_STEP),
    add: addInView,
    remove() {
      if (marks.selected !== null) marks.remove(marks.selected)
    },
  }
  frame.hasChanges = () => isEdited(steps.now)
  frame.onTool = updateControls
  frame.onAction = (action) => {
    if (action !== 'add') commitText()
    handlers[action]()
    show()
  }
  frame.onText = setText
  frame.onTextEnd = commitText
  show()
  try {
    const answer = await frame.ask({ progress })
    commitText()
    if (answer === 'cancel') return null
    if (answer === 'as-it-is' || !isEdited(steps.now)) return file
    return await render(file, picture, steps.now)
  } catch {
    // Rendering failed: never fall back silently to the unredacted file.
    const fallback = await frame.ask({ progress, problem: words.impossible })
    return fallback === 'as-it-is' ? file : null
  } finally {
    stage.close()
  }
}

/** Position of `value` between `start` and `start + length`, from 0 to 1. */
function fraction(value: number, start: number, length: number): number {
  return length === 0 ? 0.5 : (value - start) / length
}
