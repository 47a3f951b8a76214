/** Where the picture is looked at: a canvas as large as the stage, that shows the part in sight, and a layer over it. */
import { type Edits, fitted } from './edits.ts'
import { draw } from './render.ts'

/** More dots than this for a CSS pixel nobody sees. */
const MAX_DENSE = 2

/** Pixels of the picture are told apart from here on: they are shown as they are, not smoothed. Unit: CSS pixels. */
const SHARP_SCALE = 2

export type Stage = ReturnType<typeof createStage>

export function createStage(element: HTMLElement, canvas: HTMLCanvasElement) {
  const context = canvas.getContext('2d')!
  const layer = document.createElement('div')
  layer.className = 'editor-layer'
  layer.tabIndex = -1
  element.append(layer)
  let shown: { picture: ImageBitmap; edits: Edits } | undefined
  let view: View = { scale: 1, x: 0, y: 0 }
  let isDue = false

  const room = () => ({ width: element.clientWidth, height: element.clientHeight })

  function moved(next: View): void {
    view = next
    if (!shown) return
    const { width, height } = shown.edits
    Object.assign(layer.style, {
      left: `${view.x}px`,
      top: `${view.y}px`,
      width: `${width * view.scale}px`,
      height: `${height * view.scale}px`,
    })
    layer.dispatchEvent(new Event('moved'))
    if (!isDue) requestAnimationFrame(paint)
    isDue = true
  }

  function paint(): void {
    isDue = false
    if (!shown) return
    const density = Math.min(devicePixelRatio, MAX_DENSE)
    const { width, height } = room()
    const [across, down] = [Math.round(width * density), Math.round(height * density)]
    if (canvas.width !== across || canvas.height !== down)
      Object.assign(canvas, { width: across, height: down })
    context.setTransform(1, 0, 0, 1, 0, 0)
    context.clearRect(0, 0, across, down)
    const scale = view.scale * density
    context.setTransform(scale, 0, 0, scale, view.x * density, view.y * density)
    context.imageSmoothingEnabled = view.scale < SHARP_SCALE
    context.imageSmoothingQuality = 'medium'
    // What is drawn beyond the picture is not sent.
    context.beginPath()
    context.rect(0, 0, shown.edits.width, shown.edits.height)
    context.save()
    context.clip()
    draw(context, shown.picture, shown.edits, fitted(inSight(), shown.edits))
    context.restore()
  }

  /** Part of the picture in sight, in its pixels. */
  function inSight() {
    const { width, height } = room()
    const { edits } = shown!
    const [x, y] = [Math.max(0, -view.x / view.scale), Math.max(0, -view.y / view.scale)]
    return {
      x,
      y,
      width: Math.min(edits.width, (width - view.x) / view.scale) - x,
      height: Math.min(edits.height, (height - view.y) / view.scale) - y,
    }
  }

  const observer = new ResizeObserver(() => {
    if (shown) moved(isUntouched ? firstView(shown.edits, room()) : clamped(view, shown.edits, room()))
  })
  observer.observe(element)
  /** Nobody has moved it: another size of the stage starts anew. */
  let isUntouched = true

  return {
    /** Takes the pointers. */
    element,
    /** Lies over the whole picture, wherever it goes. */
    layer,
    /** CSS pixels for a pixel of the picture. */
    get scale() {
      return view.scale
    },
    /** Shows the edits, on their way or done. The view starts anew when the picture's shape changes. */
    show(picture: ImageBitmap, edits: Edits): void {
      const before = shown
      shown = { picture, edits }
      const isSameShape =
        before?.picture === picture &&
        before.edits.width === edits.width &&
        before.edits.height === edits.height
      if (!isSameShape) isUntouched = true
      moved(isSameShape ? view : firstView(edits, room()))
    },
    /** From a pointer's place to the picture's pixels, which may lie outside of it. */
    toPicture(clientX: number, clientY: number): readonly [x: number, y: number] {
      const place = layer.getBoundingClientRect()
      return [(clientX - place.left) / view.scale, (clientY - place.top) / view.scale]
    },
    pan(x: number, y: number): void {
      isUntouched = false
      if (shown) moved(panned(view, x, y, shown.edits, room()))
    },
    /** `at`: the pointer's place that stays; else the middle. */
    zoom(factor: number, at?: readonly [clientX: number, clientY: number]): void {
      isUntouched = false
      const { left, top, width, height } = element.getBoundingClientRect()
      const point = at ? ([at[0] - left, at[1] - top] as const) : ([width / 2, height / 2] as const)
      if (shown) moved(zoomed(view, factor, point, shown.edits, room()))
    },
    inSight,
    /** Draws no more: the picture may be closed. */
    close(): void {
      observer.disconnect()
      shown = undefined
    },
  }
}

interface Size {
  width: number
  height: number
}

interface View {
  /** CSS pixels for a pixel of the picture. */
  scale: number
  /** Where the picture's upper left corner lies on the stage. Unit: CSS pixels. */
  x: number
  y: number
}

/** How far the edges of a picture larger than the stage may be pulled in, to reach the handles there. Unit: CSS pixels. */
const MARGIN = 56

/** A picture whose shorter side would get less of the stage's than this is shown in part instead. */
const MIN_SHARE = 0.6

const MAX_SCALE = 12

/** All of the picture; of one that is very tall or very wide, its beginning. */
function firstView(picture: Size, stage: Size): View {
  const whole = wholeScale(picture, stage)
  const isNarrow = picture.width * whole < stage.width * MIN_SHARE
  const isFlat = picture.height * whole < stage.height * MIN_SHARE
  const shape = picture.width / picture.height
  const isLong = Math.max(shape, 1 / shape) > 2.5
  const scale =
    isLong && isNarrow
      ? Math.min(1, stage.width / picture.width)
      : isLong && isFlat
        ? Math.min(1, (MIN_SHARE * stage.height) / picture.height)
        : whole
  return clamped({ scale: Math.max(whole, scale), x: 0, y: 0 }, picture, stage)
}

/** `factor` times as large; what lies at the point `x`, `y` of the stage stays there. */
function zoomed(
  view: View,
  factor: number,
  [x, y]: readonly [number, number],
  picture: Size,
  stage: Size,
): View {
  const least = wholeScale(picture, stage)
  const scale = Math.max(least, Math.min(view.scale * factor, Math.max(MAX_SCALE, least)))
  const share = scale / view.scale
  return clamped({ scale, x: x - (x - view.x) * share, y: y - (y - view.y) * share }, picture, stage)
}

function panned(view: View, x: number, y: number, picture: Size, stage: Size): View {
  return clamped({ ...view, x: view.x + x, y: view.y + y }, picture, stage)
}

/** In the middle of the stage where it is smaller; else no further off than its edges and a margin. */
function clamped({ scale, x, y }: View, picture: Size, stage: Size): View {
  const place = (at: number, length: number, room: number) =>
    length <= room ? (room - length) / 2 : Math.max(room - length - MARGIN, Math.min(at, MARGIN))
  return {
    scale,
    x: place(x, picture.width * scale, stage.width),
    y: place(y, picture.height * scale, stage.height),
  }
}

function wholeScale(picture: Size, stage: Size): number {
  return Math.min(1, stage.width / picture.width, stage.height / picture.height)
}
