/** What was done to a picture before it is sent: numbers only, nothing of the page. */

/** Unit: pixels of the picture as it stands, after its turns. */
export interface Box {
  x: number
  y: number
  width: number
  height: number
}

export interface Edits {
  /** Quarters, clockwise. */
  turns: 0 | 1 | 2 | 3
  /** As it stands, after its turns. Unit: pixels. */
  width: number
  height: number
  redacted: Box[]
  crop: Box | null
}

export function noEdits(width: number, height: number): Edits {
  return { turns: 0, width, height, redacted: [], crop: null }
}

export function isEdited({ turns, redacted, crop }: Edits): boolean {
  return turns !== 0 || redacted.length > 0 || crop !== null
}

/** A quarter clockwise: the boxes turn with the picture. */
export function turned({ turns, width, height, redacted, crop }: Edits): Edits {
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
    redacted: redacted.map(turn),
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
