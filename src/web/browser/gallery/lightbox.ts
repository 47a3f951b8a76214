/** Full-size view of a gallery's pictures, with navigation by arrow keys, buttons or swipe. */
import { previewPath, rawPath, viewPath } from '../../../protocol.ts'
import { fill } from '../../messages/wording.ts'
import type { GalleryFacts } from '../../pages/page-facts.ts'
import type { LinkedPicture } from './link.ts'

/** Minimum horizontal movement of a swipe. Unit: pixels. */
const MIN_SWIPE_PX = 40

/** `id`: the picture to show first. */
export function openLightbox(pictures: LinkedPicture[], words: GalleryFacts['words'], id: string): void {
  const find = <E extends HTMLElement>(id: string) => document.getElementById(id) as E
  const dialog = find<HTMLDialogElement>('lightbox')
  const image = find<HTMLImageElement>('shown')
  const [previous, next] = [find<HTMLButtonElement>('previous'), find<HTMLButtonElement>('next')]
  const problem = find('shown-problem')
  let at = 0

  function show(index: number): void {
    const picture = pictures[index]
    if (picture === undefined) return
    const { id, alt } = picture
    at = index
    const title = fill(words.open, { number: index + 1, count: pictures.length })
    find('lightbox-title').textContent = title
    image.alt = alt || title
    void load(id)
    previous.disabled = index === 0
    next.disabled = index === pictures.length - 1
    find<HTMLAnchorElement>('download').href = `${rawPath(id)}?dl=1`
    find<HTMLAnchorElement>('to-page').href = viewPath(id)
    const after = pictures[index + 1]
    if (after) new Image().src = rawPath(after.id)
  }

  /** Shows the preview, which the tile has already fetched, until the full picture is decoded. */
  async function load(id: string): Promise<void> {
    problem.textContent = ''
    image.hidden = false
    // Otherwise the browser shows the previous picture until this one arrives.
    image.removeAttribute('src')
    image.src = previewPath(id)
    const full = new Image()
    full.src = rawPath(id)
    const isLoaded = await full.decode().then(
      () => true,
      () => false,
    )
    // The viewer moved on or closed in the meantime.
    if (pictures[at]?.id !== id) return
    image.hidden = !isLoaded
    if (isLoaded) image.src = full.src
    else problem.textContent = words.unreachable
  }

  function go(step: number): void {
    show(at + step)
    // A button loses focus when it becomes disabled: focus its neighbour.
    if (document.activeElement === document.body || document.activeElement === dialog)
      (next.disabled ? previous : next).focus()
  }

  // One dialog serves every list on this page, so assign the handlers instead of adding listeners.
  previous.onclick = () => go(-1)
  next.onclick = () => go(1)
  find('close').onclick = () => dialog.close()
  dialog.onkeydown = (event) => {
    if (event.key === 'ArrowRight') go(document.dir === 'rtl' ? -1 : 1)
    if (event.key === 'ArrowLeft') go(document.dir === 'rtl' ? 1 : -1)
  }
  image.onerror = () => {
    image.hidden = true
  }
  dialog.onclose = () => {
    at = -1
    image.removeAttribute('src')
  }
  let from: Touch | undefined
  dialog.ontouchstart = (event) => {
    // Not a swipe: two fingers zoom, and a zoomed page is panned.
    from = event.touches.length === 1 && (visualViewport?.scale ?? 1) < 1.05 ? event.touches[0] : undefined
  }
  dialog.ontouchend = (event) => {
    const to = event.changedTouches[0]
    if (!from || !to) return
    const [x, y] = [to.clientX - from.clientX, to.clientY - from.clientY]
    if (Math.abs(x) > MIN_SWIPE_PX && Math.abs(x) > 2 * Math.abs(y)) go(x < 0 ? 1 : -1)
  }

  show(pictures.findIndex((picture) => picture.id === id))
  dialog.showModal()
}
