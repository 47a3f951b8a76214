/** What fingers, pens and mice do on the stage: one draws or pulls, two move and zoom the picture. */
import type { Stage } from './stage.ts'

/** Less than this is a press, not a drag. Unit: CSS pixels. */
const MIN_DRAG_PX = 6

/** A line that a wheel turns, and how much a turn with Ctrl zooms. Unit: CSS pixels; natural logarithm by CSS pixel. */
const LINE_PX = 16
const ZOOM_PER_PX = 0.005

/** What a pointer does from its first movement on. */
export interface Drag {
  /** To a place on the screen. */
  to(clientX: number, clientY: number): void
  end(): void
  /** It was meant otherwise: all is as before. */
  abort(): void
}

export interface GestureOptions {
  stage: Stage
  /** A pointer went down here, and moves. `null`: it moves the picture. */
  begin(down: PointerEvent): Drag | null
  /** A pointer went down and up at one place. */
  onPress(event: PointerEvent): void
}

interface Pointer {
  x: number
  y: number
}

export function takeGestures({ stage, begin, onPress }: GestureOptions): void {
  const { element } = stage
  const pointers = new Map<number, Pointer>()
  let down: PointerEvent | undefined
  let drag: Drag | undefined
  /** More than one finger was there: what is left of them draws nothing. */
  let isPinch = false

  element.addEventListener('pointerdown', (event) => {
    // The middle button of a mouse moves the picture.
    if (event.pointerType === 'mouse' && event.button > 1) return
    event.preventDefault()
    element.setPointerCapture(event.pointerId)
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY })
    if (pointers.size === 1) {
      down = event
      isPinch = false
    } else {
      isPinch = true
      drag?.abort()
      drag = undefined
    }
  })

  element.addEventListener('pointermove', (event) => {
    const pointer = pointers.get(event.pointerId)
    if (!pointer || !down) return
    const before = middleOf(pointers)
    Object.assign(pointer, { x: event.clientX, y: event.clientY })
    if (isPinch) {
      if (pointers.size < 2) return
      const after = middleOf(pointers)
      stage.pan(after.x - before.x, after.y - before.y)
      if (before.spread > 0) stage.zoom(after.spread / before.spread, [after.x, after.y])
      return
    }
    if (!drag) {
      if (Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < MIN_DRAG_PX) return
      drag = (down.button === 1 ? null : begin(down)) ?? panning(stage, down)
    }
    drag.to(event.clientX, event.clientY)
  })

  const lift = (event: PointerEvent) => {
    if (!pointers.delete(event.pointerId)) return
    if (event.type === 'pointercancel') drag?.abort()
    else if (drag) drag.end()
    else if (!isPinch && down) onPress(down)
    drag = undefined
    if (pointers.size === 0) down = undefined
  }
  element.addEventListener('pointerup', lift)
  element.addEventListener('pointercancel', lift)

  element.addEventListener(
    'wheel',
    (event) => {
      event.preventDefault()
      // Two fingers on a touchpad that spread come as a wheel with Ctrl.
      const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PX : 1
      const [x, y] = [event.deltaX * unit, event.deltaY * unit]
      if (event.ctrlKey || event.metaKey)
        stage.zoom(Math.exp(-y * ZOOM_PER_PX), [event.clientX, event.clientY])
      else if (event.shiftKey) stage.pan(-y, 0)
      else stage.pan(-x, -y)
    },
    { passive: false },
  )
}

function panning(stage: Stage, down: PointerEvent): Drag {
  let [x, y] = [down.clientX, down.clientY]
  return {
    to(clientX, clientY) {
      stage.pan(clientX - x, clientY - y)
      ;[x, y] = [clientX, clientY]
    },
    end() {},
    abort() {},
  }
}

/** Between all fingers, and how far they are from there on average. */
function middleOf(pointers: ReadonlyMap<number, Pointer>): { x: number; y: number; spread: number } {
  const all = [...pointers.values()]
  const x = all.reduce((sum, pointer) => sum + pointer.x, 0) / all.length
  const y = all.reduce((sum, pointer) => sum + pointer.y, 0) / all.length
  const spread = all.reduce((sum, pointer) => sum + Math.hypot(pointer.x - x, pointer.y - y), 0) / all.length
  return { x, y, spread }
}
