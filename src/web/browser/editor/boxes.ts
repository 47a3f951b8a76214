/** Boxes over the picture: drawn and moved by pointer, or by the arrow keys. */
import { fill } from '../../messages/wording.ts'
import type { HomeFacts } from '../../pages/page-facts.ts'
import { type Box, type Edits, fitted } from './edits.ts'

/** Less than this is a press, not a box. Unit: pixels of the screen. */
const LEAST_DRAG_PX = 8
/** Share of the picture's side that a key press moves. */
const STEP = 0.02

const KEYS: Record<string, [x: number, y: number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
}

export interface BoxesOptions {
  /** Lies over the picture, at its size. */
  layer: HTMLElement
  words: HomeFacts['editor']
  edits(): Edits
  isCropping(): boolean
  /** `isWhole`: one deed, to be undone as one; else it is under way. */
  change(edits: Edits, isWhole: boolean): void
  say(text: string): void
}

export interface Boxes {
  /** Shows the boxes as they are. */
  show(): void
  /** A box in the middle, with the focus. */
  add(): void
}

export function createBoxes({ layer, words, edits, isCropping, change, say }: BoxesOptions): Boxes {
  const elements = new Map<string, HTMLButtonElement>()

  function boxOf(name: string): Box | null {
    return name === 'crop' ? edits().crop : (edits().redacted[Number(name)] ?? null)
  }

  function put(name: string, box: Box | null, isWhole = true): void {
    const now = edits()
    const shaped = box && fitted(box, now)
    if (name === 'crop') {
      change({ ...now, crop: shaped }, isWhole)
      return
    }
    const redacted = [...now.redacted]
    if (shaped) redacted[Number(name)] = shaped
    else redacted.splice(Number(name), 1)
    change({ ...now, redacted }, isWhole)
  }

  function labelOf(name: string, box: Box): string {
    const { x, y, width, height } = box
    return name === 'crop'
      ? fill(words.cropBox, { x, y, width, height })
      : fill(words.box, { number: Number(name) + 1, x, y, width, height })
  }

  function elementOf(name: string): HTMLButtonElement {
    const element = document.createElement('button')
    element.type = 'button'
    element.className = name === 'crop' ? 'edit-box edit-crop' : 'edit-box'
    const handle = document.createElement('span')
    handle.className = 'edit-handle'
    element.append(handle)
    element.addEventListener('keydown', (event) => onKey(event, name))
    element.addEventListener('pointerdown', (event) => onGrab(event, name, event.target === handle))
    layer.append(element)
    return element
  }

  function show(): void {
    const { width, height, redacted, crop } = edits()
    const names = [...redacted.keys()].map(String)
    if (crop) names.push('crop')
    for (const [name, element] of elements) {
      if (names.includes(name)) continue
      if (element === document.activeElement) layer.focus()
      element.remove()
      elements.delete(name)
    }
    for (const name of names) {
      const element = elements.get(name) ?? elementOf(name)
      elements.set(name, element)
      const box = boxOf(name)!
      element.setAttribute('aria-label', labelOf(name, box))
      Object.assign(element.style, {
        left: `${(100 * box.x) / width}%`,
        top: `${(100 * box.y) / height}%`,
        width: `${(100 * box.width) / width}%`,
        height: `${(100 * box.height) / height}%`,
      })
    }
  }

  function onKey(event: KeyboardEvent, name: string): void {
    const box = boxOf(name)
    if (!box) return
    if (event.key === 'Delete' || event.key === 'Backspace') {
      event.preventDefault()
      put(name, null)
      ;([...elements.values()].at(-1) ?? layer).focus()
      return
    }
    const direction = KEYS[event.key]
    if (!direction) return
    event.preventDefault()
    const { width, height } = edits()
    const [x, y] = [
      Math.max(1, Math.round(STEP * width)) * direction[0],
      Math.max(1, Math.round(STEP * height)) * direction[1],
    ]
    const next = event.shiftKey
      ? { ...box, width: Math.max(1, box.width + x), height: Math.max(1, box.height + y) }
      : movedWithin(box, x, y)
    put(name, next)
    const now = boxOf(name)
    if (now) say(labelOf(name, now))
  }

  function movedWithin(box: Box, x: number, y: number): Box {
    const { width, height } = edits()
    return {
      ...box,
      x: Math.max(0, Math.min(box.x + x, width - box.width)),
      y: Math.max(0, Math.min(box.y + y, height - box.height)),
    }
  }

  /** From pixels of the screen to pixels of the picture. */
  function scale(): number {
    return edits().width / layer.getBoundingClientRect().width
  }

  function onGrab(down: PointerEvent, name: string, isHandle: boolean): void {
    const box = boxOf(name)
    if (!box || down.button !== 0) return
    down.stopPropagation()
    follow(
      down,
      (x, y) =>
        isHandle
          ? { ...box, width: Math.max(1, box.width + x), height: Math.max(1, box.height + y) }
          : movedWithin(box, x, y),
      name,
    )
  }

  layer.addEventListener('pointerdown', (down) => {
    if (down.button !== 0) return
    const place = layer.getBoundingClientRect()
    const [x0, y0] = [(down.clientX - place.left) * scale(), (down.clientY - place.top) * scale()]
    const name = isCropping() ? 'crop' : `${edits().redacted.length}`
    follow(
      down,
      (x, y) => ({
        x: Math.max(0, Math.min(x0, x0 + x)),
        y: Math.max(0, Math.min(y0, y0 + y)),
        width: Math.min(Math.abs(x), x < 0 ? x0 : Number.POSITIVE_INFINITY),
        height: Math.min(Math.abs(y), y < 0 ? y0 : Number.POSITIVE_INFINITY),
      }),
      name,
    )
  })

  /** Shapes a box as the pointer goes, from the first distance on that is no mere press. */
  function follow(down: PointerEvent, shape: (x: number, y: number) => Box, name: string): void {
    const factor = scale()
    let isDrag = false
    layer.setPointerCapture(down.pointerId)
    const move = (event: PointerEvent) => {
      const [x, y] = [event.clientX - down.clientX, event.clientY - down.clientY]
      if (!isDrag && Math.hypot(x, y) < LEAST_DRAG_PX) return
      // The state before the drag is what an undo goes back to.
      put(name, shape(x * factor, y * factor), !isDrag)
      isDrag = true
    }
    const up = () => {
      layer.removeEventListener('pointermove', move)
      layer.removeEventListener('pointerup', up)
      layer.removeEventListener('pointercancel', up)
      if (isDrag) elements.get(name)?.focus()
    }
    layer.addEventListener('pointermove', move)
    layer.addEventListener('pointerup', up)
    layer.addEventListener('pointercancel', up)
  }

  return {
    show,
    add() {
      const { width, height, redacted } = edits()
      const share = isCropping() ? 0.8 : 0.3
      const name = isCropping() ? 'crop' : `${redacted.length}`
      put(name, {
        x: Math.round((width * (1 - share)) / 2),
        y: Math.round((height * (1 - share)) / 2),
        width: Math.round(width * share),
        height: Math.round(height * share),
      })
      elements.get(name)?.focus()
    },
  }
}
