/** What was done to a picture before it is sent: numbers and words only, nothing of the page. */

/** Unit: pixels of the picture as it stands, after its turns. */
export interface Box {
  x: number
  y: number
  width: number
  height: number
}

/** From 0 to 1, left to right and top to bottom of a box. */
export type Point = readonly [x: number, y: number]

export type MarkKind = 'redact' | 'arrow' | 'pen' | 'text'

/** Something drawn on the picture. All of it lies within its box, and is moved and resized with it. */
export interface Mark {
  kind: MarkKind
  box: Box
  /** The way of an arrow or a pen; empty for the others. */
  points: readonly Point[]
  /** Width of its line. Unit: pixels of the picture. */
  line: number
  /** Empty unless it is a text. */
  text: string
  /** Quarters clockwise that the picture was turned since. */
  turns: number
}

export interface Edits {
  /** Quarters, clockwise. */
  turns: 0 | 1 | 2 | 3
  /** As it stands, after its turns. Unit: pixels. */
  width: number
  height: number
  /** In the order in which they were drawn: a later one lies over an earlier one. */
  marks: readonly Mark[]
  crop: Box | null
}

export function noEdits(width: number, height: number): Edits {
  return { turns: 0, width, height, marks: [], crop: null }
}

export function isEdited({ turns, marks, crop }: Edits): boolean {
  return turns !== 0 || marks.length > 0 || crop !== null
}

/** A quarter clockwise: what was drawn turns with the picture. */
export function turned({ turns, width, height, marks, crop }: Edits): Edits {
  const turn = (box: Box): Box => ({
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
      box: turn(mark.box),
      points: mark.points.map(([x, y]) => [1 - y, x] as const),
      turns: mark.turns + 1,
    })),
    crop: crop && turn(crop),
  }
}

/** Whole pixels within the picture, at least one: a box covers every pixel that it touches. */
export function fitted(box: Box, { width, height }: Pick<Edits, 'width' | 'height'>): Box {
  const x = Math.max(0, Math.min(Math.floor(box.x), width - 1))
  const y = Math.max(0, Math.min(Math.floor(box.y), height - 1))
  return {
    x,
    y,
    width: Math.max(1, Math.min(Math.ceil(box.x + box.width), width) - x),
    height: Math.max(1, Math.min(Math.ceil(box.y + box.height), height) - y),
  }
}

/** The box between two of its corners, whichever they are. */
export function between(x0: number, y0: number, x1: number, y1: number): Box {
  return { x: Math.min(x0, x1), y: Math.min(y0, y1), width: Math.abs(x1 - x0), height: Math.abs(y1 - y0) }
}

/** Moved by `x` and `y`, in whole pixels, no further than the picture goes. */
export function movedWithin(box: Box, x: number, y: number, { width, height }: Edits): Box {
  return {
    ...box,
    x: Math.max(0, Math.min(Math.round(box.x + x), width - box.width)),
    y: Math.max(0, Math.min(Math.round(box.y + y), height - box.height)),
  }
}

/** The way that a picture's edits went, for undo and redo. */
export function createSteps(first: Edits) {
  const earlier: Edits[] = []
  let later: Edits[] = []
  let settled = first
  let now = first

  const steps = {
    get now(): Edits {
      return now
    },
    get canUndo(): boolean {
      return earlier.length > 0 || now !== settled
    },
    get canRedo(): boolean {
      return later.length > 0
    },
    /** What is under way, such as a box that is still being drawn: no step yet. */
    draft(edits: Edits): void {
      now = edits
    },
    /** What is under way becomes a step. */
    commit(): void {
      if (now === settled) return
      earlier.push(settled)
      later = []
      settled = now
    },
    /** What is under way is forgotten. */
    abort(): void {
      now = settled
    },
    undo(): void {
      steps.commit()
      const before = earlier.pop()
      if (!before) return
      later.push(settled)
      now = settled = before
    },
    redo(): void {
      const next = later.pop()
      if (!next) return
      earlier.push(settled)
      now = settled = next
    },
  }
  return steps
}
