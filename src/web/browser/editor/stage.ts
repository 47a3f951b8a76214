/** The editor's viewport: a canvas that shows the visible part of the picture, and an interactive layer over it. */
import { type Edits, fitToPicture } from './edits.ts'
import { draw } from './render.ts'

/** Maximum device pixels per CSS pixel: more makes no visible difference. */
const MAX_DENSITY = 2

/** Scale from which pixels are shown unsmoothed. */
const SHARP_SCALE = 2

/** Overscroll beyond the edges of a large picture, to reach the handles there. Unit: CSS pixels. */
const MARGIN = 56

/** A long picture is shown only in part if its shorter side would fill less of the stage than this. */
const MIN_SHARE = 0.6

const MAX_SCALE = 12

export type Stage = ReturnType<typeof createStage>

export function createStage(element: HTMLElement, canvas: HTMLCanvasElement) {
  const context = canvas.getContext('2d')!
  const layer = document.createElement('div')
  layer.className = 'editor-layer'
  layer.tabIndex = -1
  element.append(layer)
  let shown: { picture: ImageBitmap; edits: Edits } | undefined
  let view: View = { scale: 1, x: 0, y: 0 }
  let isPaintScheduled = false

  const stageSize = () => ({ width: element.clientWidth, height: element.clientHeight })

  /** Centres a picture smaller than the stage, and limits the panning of a larger one. */
  function clamped({ scale, x, y }: View, picture: Edits): View {
    const stage = stageSize()
    const clamp = (at: number, length: number, available: number) =>
      length <= available
        ? (available - length) / 2
        : Math.max(available - length - MARGIN, Math.min(at, MARGIN))
    return {
      scale,
      x: clamp(x, picture.width * scale, stage.width),
      y: clamp(y, picture.height * scale, stage.height),
    }
  }

  function fitScale(picture: Edits): number {
    const stage = stageSize()
    return Math.min(1, stage.width / picture.width, stage.height / picture.height)
  }

  /** The whole picture, or the beginning of a very tall or wide one. */
  function initialView(picture: Edits): View {
    const stage = stageSize()
    const fit = fitScale(picture)
    const isNarrow = picture.width * fit < stage.width * MIN_SHARE
    const isFlat = picture.height * fit < stage.height * MIN_SHARE
    const ratio = picture.width / picture.height
    const isLong = Math.max(ratio, 1 / ratio) > 2.5
    const scale =
      isLong && isNarrow
        ? Math.min(1, stage.width / picture.width)
        : isLong && isFlat
          ? Math.min(1, (MIN_SHARE * stage.height) / picture.height)
          : fit
    return clamped({ scale: Math.max(fit, scale), x: 0, y: 0 }, picture)
  }

  function setView(next: View): void {
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
    if (!isPaintScheduled) requestAnimationFrame(paint)
    isPaintScheduled = true
  }

  function paint(): void {
    isPaintScheduled = false
    if (!shown) return
    const density = Math.min(devicePixelRatio, MAX_DENSITY)
    const { width, height } = stageSize()
    const [across, down] = [Math.round(width * density), Math.round(height * density)]
    if (canvas.width !== across || canvas.height !== down)
      Object.assign(canvas, { width: across, height: down })
    context.setTransform(1, 0, 0, 1, 0, 0)
    context.clearRect(0, 0, across, down)
    const scale = view.scale * density
    context.setTransform(scale, 0, 0, scale, view.x * density, view.y * density)
    context.imageSmoothingEnabled = view.scale < SHARP_SCALE
    context.imageSmoothingQuality = 'medium'
    // Clip to the picture: marks beyond it are not sent.
    context.beginPath()
    context.rect(0, 0, shown.edits.width, shown.edits.height)
    context.save()
    context.clip()
    draw(context, shown.picture, shown.edits, fitToPicture(visibleBox(), shown.edits))
    context.restore()
  }

  /** The visible part of the picture. Unit: pixels of the picture. */
  function visibleBox() {
    const { width, height } = stageSize()
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
    if (shown) setView(isUntouched ? initialView(shown.edits) : clamped(view, shown.edits))
  })
  observer.observe(element)
  /** True until the user pans or zooms: a resized stage then resets the view. */
  let isUntouched = true

  return {
    /** Receives pointer events. */
    element,
    /** Covers the whole picture. */
    layer,
    /** CSS pixels per pixel of the picture. */
    get scale() {
      return view.scale
    },
    /** Shows the edits, committed or not. Resets the view when the picture's dimensions change. */
    show(picture: ImageBitmap, edits: Edits): void {
      const before = shown
      shown = { picture, edits }
      const isSameShape =
        before?.picture === picture &&
        before.edits.width === edits.width &&
        before.edits.height === edits.height
      if (!isSameShape) isUntouched = true
      setView(isSameShape ? view : initialView(edits))
    },
    /** Converts viewport coordinates to pixels of the picture, possibly outside it. */
    toPicture(clientX: number, clientY: number): readonly [x: number, y: number] {
      const box = layer.getBoundingClientRect()
      return [(clientX - box.left) / view.scale, (clientY - box.top) / view.scale]
    },
    pan(x: number, y: number): void {
      isUntouched = false
      if (shown) setView(clamped({ ...view, x: view.x + x, y: view.y + y }, shown.edits))
    },
    /** `at`: the fixed point. Default: the middle. */
    zoom(factor: number, at?: readonly [clientX: number, clientY: number]): void {
      isUntouched = false
      if (!shown) return
      const { left, top, width, height } = element.getBoundingClientRect()
      const [x, y] = at ? [at[0] - left, at[1] - top] : [width / 2, height / 2]
      const min = fitScale(shown.edits)
      const scale = Math.max(min, Math.min(view.scale * factor, Math.max(MAX_SCALE, min)))
      const change = scale / view.scale
      setView(clamped({ scale, x: x - (x - view.x) * change, y: y - (y - view.y) * change }, shown.edits))
    },
    visibleBox,
    /** Stops drawing, so that the picture can be closed. */
    close(): void {
      observer.disconnect()
      shown = undefined
    },
  }
}

interface View {
  /** CSS pixels per pixel of the picture. */
  scale: number
  /** Position of the picture's upper left corner on the stage. Unit: CSS pixels. */
  x: number
  y: number
}
