/** Pointer gestures on the stage: one pointer draws or drags, two pan and zoom. */
import type { Stage } from './stage.ts'

/** Minimum movement of a drag; less is a press. Unit: CSS pixels. */
const MIN_DRAG_PX = 6

/** Height of a wheel line. Unit: CSS pixels. */
const LINE_PX = 16
/** Zoom of a wheel with Ctrl. Unit: natural logarithm of the scale per CSS pixel. */
const ZOOM_PER_PX = 0.005

/** A drag in progress. */
export interface Drag {
  /** The pointer moved to this point of the viewport. */
  to(clientX: number, clientY: number): void
  end(): void
  /** Cancelled: undo the drag's effect. */
  abort(): void
}

export interface GestureOptions {
  stage: Stage
  /** A drag starts at `down`. `null`: pan the picture. */
  begin(down: PointerEvent): Drag | null
  /** Pressed without dragging. */
  onPress(event: PointerEvent): void
}

interface Pointer {
  x: number
  y: number
}

export function handleGestures({ stage, begin, onPress }: GestureOptions): void {
  const { element } = stage
  const pointers = new Map<number, Pointer>()
  let down: PointerEvent | undefined
  let drag: Drag | undefined
  /** More than one finger touched, so the remaining ones don't draw. */
  let isPinch = false

  element.addEventListener('pointerdown', (event) => {
    // The middle mouse button pans.
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
    const before = centreOf(pointers)
    Object.assign(pointer, { x: event.clientX, y: event.clientY })
    if (isPinch) {
      if (pointers.size < 2) return
      const after = centreOf(pointers)
      stage.pan(after.x - before.x, after.y - before.y)
      if (before.spread > 0) stage.zoom(after.spread / before.spread, [after.x, after.y])
      return
    }
    if (!drag) {
      if (Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < MIN_DRAG_PX) return
      drag = (down.button === 1 ? null : begin(down)) ?? panDrag(stage, down)
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
      // A pinch on a touchpad arrives as wheel events with Ctrl.
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

function panDrag(stage: Stage, down: PointerEvent): Drag {
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

/** Centre of all pointers, and their mean distance from it. */
function centreOf(pointers: ReadonlyMap<number, Pointer>): { x: number; y: number; spread: number } {
  const all = [...pointers.values()]
  const x = all.reduce((sum, pointer) => sum + pointer.x, 0) / all.length
  const y = all.reduce((sum, pointer) => sum + pointer.y, 0) / all.length
  const spread = all.reduce((sum, pointer) => sum + Math.hypot(pointer.x - x, pointer.y - y), 0) / all.length
  return { x, y, spread }
}
