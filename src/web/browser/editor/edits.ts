/** Data model of the edits to a picture. Independent of the DOM. */

/** Unit: pixels of the rotated picture. */
export interface Box {
  x: number
  y: number
  width: number
  height: number
}

/** Relative to a box, from 0 to 1, left to right and top to bottom. */
export type Point = readonly [x: number, y: number]

export type MarkKind = 'redact' | 'arrow' | 'pen' | 'text'

/** Something drawn on the picture. It lies within its box, and moves and resizes with it. */
export interface Mark {
  kind: MarkKind
  box: Box
  /** Path of an arrow or a pen stroke; empty for other kinds. */
  points: readonly Point[]
  /** Line width. Unit: pixels of the picture. */
  line: number
  /** Empty unless `kind` is `text`. */
  text: string
  /** Clockwise quarter turns of the picture since the mark was drawn. */
  turns: number
}

export interface Edits {
  /** Clockwise quarter turns. */
  turns: 0 | 1 | 2 | 3
  /** Size after rotation. Unit: pixels. */
  width: number
  height: number
  /** In drawing order, so later marks cover earlier ones. */
  marks: readonly Mark[]
  crop: Box | null
}

export function noEdits(width: number, height: number): Edits {
  return { turns: 0, width, height, marks: [], crop: null }
}

export function isEdited({ turns, marks, crop }: Edits): boolean {
  return turns !== 0 || marks.length > 0 || crop !== null
}

/** Rotates the picture and its marks by 90° clockwise. */
export function rotated({ turns, width, height, marks, crop }: Edits): Edits {
  const rotate = (box: Box): Box => ({
    x: height - box.y - box.height,
    y: box.x,
    width: box.height,
    height: box.width,
  })
  return {
    turns: ((turns + 1) % 4) as Edits['turns'],
    width: height,
    height: width,
    marks: marks.map((mark) => ({
      ...mark,
      box: rotate(mark.box),
      points: mark.points.map(([x, y]) => [1 - y, x] as const),
      turns: mark.turns + 1,
    })),
    crop: crop && rotate(crop),
  }
}

/** Expands the box to whole pixels and clamps it to the picture. At least one pixel. */
export function fitToPicture(box: Box, { width, height }: Pick<Edits, 'width' | 'height'>): Box {
  const x = Math.max(0, Math.min(Math.floor(box.x), width - 1))
  const y = Math.max(0, Math.min(Math.floor(box.y), height - 1))
  return {
    x,
    y,
    width: Math.max(1, Math.min(Math.ceil(box.x + box.width), width) - x),
    height: Math.max(1, Math.min(Math.ceil(box.y + box.height), height) - y),
  }
}

/** The box with two given opposite corners. */
export function boxBetween(x0: number, y0: number, x1: number, y1: number): Box {
  return { x: Math.min(x0, x1), y: Math.min(y0, y1), width: Math.abs(x1 - x0), height: Math.abs(y1 - y0) }
}

/** Moves the box by whole pixels and keeps it within the picture. */
export function movedWithin(box: Box, x: number, y: number, { width, height }: Edits): Box {
  return {
    ...box,
    x: Math.max(0, Math.min(Math.round(box.x + x), width - box.width)),
    y: Math.max(0, Math.min(Math.round(box.y + y), height - box.height)),
  }
}

/** Shrinks the box in proportion if it is larger than the picture, and moves it inside. */
export function shrunkToPicture(box: Box, edits: Edits): Box {
  if (box.x + box.width <= edits.width && box.y + box.height <= edits.height) return box
  const scale = Math.min(1, edits.width / box.width, edits.height / box.height)
  const [width, height] = [box.width * scale, box.height * scale]
  const y = (box.height - height) / 2
  return fitToPicture(movedWithin({ ...box, width, height }, 0, y, edits), edits)
}

/** Undo and redo. */
export function createSteps(initial: Edits) {
  const undoStack: Edits[] = []
  let redoStack: Edits[] = []
  let committed = initial
  let now = initial

  const steps = {
    get now(): Edits {
      return now
    },
    get canUndo(): boolean {
      return undoStack.length > 0 || now !== committed
    },
    get canRedo(): boolean {
      return redoStack.length > 0
    },
    /** Updates the uncommitted edit, such as a box that is still being drawn. */
    draft(edits: Edits): void {
      now = edits
    },
    /** Turns the uncommitted edit into an undo step. */
    commit(): void {
      if (now === committed) return
      undoStack.push(committed)
      redoStack = []
      committed = now
    },
    /** Discards the uncommitted edit. */
    abort(): void {
      now = committed
    },
    undo(): void {
      steps.commit()
      const before = undoStack.pop()
      if (!before) return
      redoStack.push(committed)
      now = committed = before
    },
    redo(): void {
      const next = redoStack.pop()
      if (!next) return
      undoStack.push(committed)
      now = committed = next
    },
  }
  return steps
}
