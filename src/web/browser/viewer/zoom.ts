/** Toggles between fit and actual size by click or button. Pinch zoom is left to the browser. */
import type { ViewerFacts } from '../../pages/page-facts.ts'

/** Minimum movement of a drag; less is a click. Unit: pixels. */
const MIN_DRAG_PX = 6

export function initZoom(picture: HTMLImageElement, words: ViewerFacts['words']): void {
  const stage = document.getElementById('stage')!
  const link = stage.querySelector('a')!
  const button = document.getElementById('zoom') as HTMLButtonElement
  const width = Number(picture.getAttribute('width'))
  const height = Number(picture.getAttribute('height'))
  const isActual = () => 'actual' in stage.dataset

  /** Offers zooming only if the picture is shown smaller than its actual size. */
  function update(): void {
    const isSmaller = isActual() || picture.clientWidth < width - 1
    button.hidden = !isSmaller
    stage.toggleAttribute('data-zooms', isSmaller)
  }

  /** `x`, `y`: point to centre, relative to the picture, from 0 to 1. */
  function toggle(x = 0.5, y = 0.5): void {
    const on = !isActual()
    stage.toggleAttribute('data-actual', on)
    button.setAttribute('aria-pressed', `${on}`)
    button.textContent = on ? words.fit : words.actualSize
    if (on) stage.scrollTo(x * width - stage.clientWidth / 2, y * height - stage.clientHeight / 2)
    update()
  }

  /** Firefox sets `detail` for Enter, too, so it can't distinguish keyboard clicks. */
  let isByKey = false
  link.addEventListener('keydown', () => {
    isByKey = true
  })
  link.addEventListener('click', (event) => {
    // From the keyboard, the link does what its label says: it opens the file.
    if (
      isByKey ||
      event.detail === 0 ||
      !('zooms' in stage.dataset) ||
      event.ctrlKey ||
      event.metaKey ||
      event.shiftKey
    )
      return
    event.preventDefault()
    if (hasDragged) return
    const box = picture.getBoundingClientRect()
    toggle((event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height)
  })
  button.addEventListener('click', () => toggle())

  // Mouse users pan by dragging, as touch scrolling is not available.
  let hasDragged = false
  link.draggable = picture.draggable = false
  stage.addEventListener('pointerdown', (down) => {
    hasDragged = isByKey = false
    if (down.pointerType !== 'mouse' || down.button !== 0 || !isActual()) return
    const [left, top] = [stage.scrollLeft, stage.scrollTop]
    const move = (event: PointerEvent) => {
      const [x, y] = [event.clientX - down.clientX, event.clientY - down.clientY]
      hasDragged ||= Math.hypot(x, y) > MIN_DRAG_PX
      stage.scrollTo(left - x, top - y)
    }
    const up = () => {
      removeEventListener('pointermove', move)
      removeEventListener('pointerup', up)
    }
    addEventListener('pointermove', move)
    addEventListener('pointerup', up)
  })

  new ResizeObserver(update).observe(stage)
  update()
}
