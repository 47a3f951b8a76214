/** Marks as interactive elements: move and resize by pointer, handles or arrow keys. */
import { fill } from '../../messages/wording.ts'
import type { HomeFacts } from '../../pages/page-facts.ts'
import { type Box, type Edits, fitToPicture, type Mark, movedWithin } from './edits.ts'
import type { Stage } from './stage.ts'

/** Touch target size of a handle. Unit: CSS pixels. */
const HANDLE_PX = 44

/** Distance of an arrow key press on the screen, so that steps get finer when zoomed in. Unit: CSS pixels. */
const STEP_PX = 4

const KEYS: Record<string, [x: number, y: number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
}

const CORNERS = ['nw', 'ne', 'sw', 'se'] as const
type Corner = (typeof CORNERS)[number]

/** Index of a mark, or the crop. */
export type MarkId = number | 'crop'

export interface MarksOptions {
  stage: Stage
  words: HomeFacts['editor']
  edits(): Edits
  /** Shows uncommitted edits. */
  draft(edits: Edits): void
  /** Commits the edits as an undo step. */
  commit(): void
  onSelect(name: MarkId | null): void
  say(text: string): void
}

export function createMarks({ stage, words, edits, draft, commit, onSelect, say }: MarksOptions) {
  const { layer } = stage
  const elements = new Map<MarkId, HTMLButtonElement>()
  let selected: MarkId | null = null

  const boxOf = (name: MarkId): Box | undefined =>
    (name === 'crop' ? edits().crop : edits().marks[name]?.box) ?? undefined

  function setBox(name: MarkId, box: Box): void {
    const now = edits()
    const fitted = fitToPicture(box, now)
    if (name === 'crop') draft({ ...now, crop: fitted })
    else
      draft({
        ...now,
        marks: now.marks.map((mark, index) => (index === name ? { ...mark, box: fitted } : mark)),
      })
  }

  function remove(name: MarkId): void {
    const now = edits()
    // The next mark takes its number.
    select(null)
    if (name === 'crop') draft({ ...now, crop: null })
    else draft({ ...now, marks: now.marks.toSpliced(name, 1) })
    commit()
  }

  function labelOf(name: MarkId, { x, y, width, height }: Box): string {
    const mark = name === 'crop' ? undefined : edits().marks[name]
    const what = mark ? `${words.tools[mark.kind]} ${(name as number) + 1}` : words.tools.crop
    return fill(words.box, { what, x, y, width, height })
  }

  function elementOf(name: MarkId): HTMLButtonElement {
    const element = document.createElement('button')
    element.type = 'button'
    element.dataset.name = `${name}`
    for (const corner of CORNERS) {
      const handle = document.createElement('span')
      handle.className = 'edit-handle'
      handle.dataset.corner = corner
      element.append(handle)
    }
    element.addEventListener('keydown', (event) => onKey(event, name))
    element.addEventListener('focus', () => select(name))
    layer.append(element)
    elements.set(name, element)
    return element
  }

  /** Syncs the elements with the edits. */
  function show(): void {
    const { width, height, marks, crop } = edits()
    const names: MarkId[] = [...marks.keys(), ...(crop ? (['crop'] as const) : [])]
    for (const [name, element] of elements) {
      if (names.includes(name)) continue
      if (element === document.activeElement) layer.focus()
      element.remove()
      elements.delete(name)
    }
    if (selected !== null && !names.includes(selected)) select(null)
    for (const name of names) {
      const element = elements.get(name) ?? elementOf(name)
      const box = boxOf(name)!
      const mark: Mark | undefined = name === 'crop' ? undefined : marks[name]
      element.className = `edit-box edit-${mark?.kind ?? 'crop'}`
      element.toggleAttribute('data-selected', name === selected)
      element.setAttribute('aria-label', labelOf(name, box))
      Object.assign(element.style, {
        left: `${(100 * box.x) / width}%`,
        top: `${(100 * box.y) / height}%`,
        width: `${(100 * box.width) / width}%`,
        height: `${(100 * box.height) / height}%`,
      })
      placeHandles(element, box)
    }
  }

  /** Moves the handles of a small box outside it, so that they don't overlap. */
  function placeHandles(element: HTMLElement, { width, height }: Box): void {
    const out = (side: number) => `${-Math.max(0, (HANDLE_PX - side * stage.scale) / 2)}px`
    element.style.setProperty('--out-x', out(width))
    element.style.setProperty('--out-y', out(height))
  }

  layer.addEventListener('moved', () => {
    for (const [name, element] of elements) {
      const box = boxOf(name)
      if (box) placeHandles(element, box)
    }
  })

  /** `takesFocus`: moves keyboard focus to the mark. */
  function select(name: MarkId | null, takesFocus = false): void {
    const isNew = name !== selected
    selected = name
    for (const [other, element] of elements) element.toggleAttribute('data-selected', other === name)
    if (isNew) onSelect(name)
    if (takesFocus && name !== null) elements.get(name)?.focus({ preventScroll: true })
  }

  function onKey(event: KeyboardEvent, name: MarkId): void {
    const box = boxOf(name)
    if (!box) return
    if (event.key === 'Delete' || event.key === 'Backspace') {
      event.preventDefault()
      remove(name)
      ;([...elements.values()].at(-1) ?? layer).focus()
      return
    }
    const direction = KEYS[event.key]
    if (!direction) return
    event.preventDefault()
    const step = Math.max(1, Math.round(STEP_PX / stage.scale))
    const [x, y] = [step * direction[0], step * direction[1]]
    setBox(name, event.shiftKey ? resized(box, 'se', x, y) : movedWithin(box, x, y, edits()))
    commit()
    const now = boxOf(name)
    if (now) say(labelOf(name, now))
  }

  /** Resizes the box by dragging `corner`, or moves it without one. Unit of `x` and `y`: pixels of the picture. */
  function resized(box: Box, corner: Corner | null, x: number, y: number): Box {
    if (!corner) return movedWithin(box, x, y, edits())
    const [left, top] = [corner.endsWith('w'), corner.startsWith('n')]
    const width = Math.max(1, box.width + (left ? -x : x))
    const height = Math.max(1, box.height + (top ? -y : y))
    return {
      x: left ? box.x + box.width - width : box.x,
      y: top ? box.y + box.height - height : box.y,
      width,
      height,
    }
  }

  return {
    show,
    /** The mark with the handles. */
    get selected() {
      return selected
    },
    select,
    remove,
    /** The mark, and corner if it is a handle, at a point. Not an event's target, which may have been removed since. */
    at({ clientX, clientY }: PointerEvent): { name: MarkId; corner: Corner | null } | null {
      const target = document.elementFromPoint(clientX, clientY) as HTMLElement | null
      const element = target?.closest<HTMLElement>('.edit-box')
      if (!element) return null
      const { name } = element.dataset
      const { corner } = target!.dataset
      return { name: name === 'crop' ? name : Number(name), corner: (corner as Corner) ?? null }
    },
    resized,
    setBox,
  }
}
