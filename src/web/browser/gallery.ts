/** The gallery page: `/g#<id>,<id>=<description>,…`. The server never sees the list. */
import { previewPath, rawPath, viewPath } from '../../protocol.ts'
import { fill, plural } from '../messages/wording.ts'
import type { GalleryFacts } from '../pages/page-facts.ts'
import { openLightbox } from './gallery/lightbox.ts'
import { type LinkedPicture, parseHash } from './gallery/link.ts'
import { copyAndSay } from './page/clipboard.ts'
import { pageFacts } from './page/facts.ts'
import { say } from './page/status.ts'

/** The first picture loads alone for up to this time, so that one appears early instead of all late. Unit: milliseconds. */
const FIRST_ALONE_MS = 4000

/** Time allowed for painting in browsers without Largest Contentful Paint entries. Unit: milliseconds. */
const PAINT_MS = 500

/** The first picture, which an inline script requests before this one loads. */
const { begun } = globalThis as { begun?: HTMLImageElement }

const { lang, words } = pageFacts as GalleryFacts
const find = (id: string) => document.getElementById(id)!
const tiles = find('tiles')

type Tile = ReturnType<typeof tileOf>

function tileOf({ id, alt }: LinkedPicture, index: number) {
  const item = document.createElement('li')
  const link = document.createElement('a')
  link.href = viewPath(id)
  link.addEventListener('click', (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    openLightbox(available(), words, id)
  })
  const image = begun?.getAttribute('src') === previewPath(id) ? begun : document.createElement('img')
  image.alt = ''
  image.loading = index === 0 ? 'eager' : 'lazy'
  image.decoding = 'async'
  image.fetchPriority = index === 0 ? 'high' : 'low'
  const show = (...content: HTMLElement[]) => {
    const hadFocus = item.contains(document.activeElement)
    item.replaceChildren(...content)
    if (hadFocus) content.at(-1)!.focus()
  }
  const fail = async (): Promise<void> => {
    tile.missing = await whyMissing(id)
    item.toggleAttribute('data-gone', tile.missing !== '')
    item.toggleAttribute('data-failed', tile.missing === '')
    const note = document.createElement('span')
    note.textContent = tile.missing || words.unreachable
    if (tile.missing === '') {
      const button = document.createElement('button')
      Object.assign(button, { type: 'button', className: 'button quiet', onclick: retry })
      button.textContent = words.retry
      tile.retryButton = button
      show(note, button)
    } else show(note)
    update()
  }
  const retry = (): void => {
    tile.retryButton = null
    delete item.dataset.failed
    show(link)
    image.src = previewPath(id)
  }
  image.addEventListener('error', () => void fail())
  link.append(image)
  item.append(link)
  const load = (): void => {
    if (image !== begun) image.src = previewPath(id)
    // It failed before the error listener was attached.
    else if (image.complete && image.naturalWidth === 0) void fail()
  }
  const tile = {
    id,
    alt,
    item,
    link,
    image,
    /** Why the picture is unavailable; empty if it is available. */
    missing: '',
    /** Retry button, set while the picture failed to load. */
    retryButton: null as HTMLButtonElement | null,
    load,
    retry,
  }
  return tile
}

/** Asks the service, because a failed load doesn't mean that the picture was deleted. Empty if it wasn't. */
async function whyMissing(id: string): Promise<string> {
  const answer = await fetch(rawPath(id), { method: 'HEAD', cache: 'no-store' }).catch(() => null)
  if (answer?.status === 404 || answer?.status === 410) return words.gone
  return answer?.status === 403 ? words.held : ''
}

function load([first, ...others]: Tile[]): void {
  if (first === undefined) return
  const loadOthers = () => {
    for (const { load } of others.splice(0)) load()
  }
  setTimeout(loadOthers, FIRST_ALONE_MS)
  first.load()
  oncePainted(first.image, loadOthers)
  first.image.decode().then(() => setTimeout(loadOthers, PAINT_MS), loadOthers)
}

/** Calls `then` once the image is painted. It is the page's largest element so far, so browsers report its paint. */
function oncePainted(image: HTMLImageElement, then: () => void): void {
  const type = 'largest-contentful-paint'
  if (!PerformanceObserver.supportedEntryTypes.includes(type)) return
  new PerformanceObserver((list, observer) => {
    const entries = list.getEntries() as (PerformanceEntry & { element?: Element | null })[]
    if (!entries.some(({ element }) => element === image)) return
    observer.disconnect()
    then()
  }).observe({ type, buffered: true })
}

let allTiles: Tile[] = []

const available = () => allTiles.filter(({ missing }) => missing === '')

/** Updates the count and labels, and moves unavailable pictures to the end. */
function update(): void {
  const shown = available()
  for (const [index, { link, retryButton, alt }] of shown.entries()) {
    const name = fill(words.open, { number: index + 1, count: shown.length })
    link.setAttribute('aria-label', alt ? `${name}: ${alt}` : name)
    retryButton?.setAttribute('aria-label', `${words.retry}: ${name}`)
  }
  for (const { item, missing } of allTiles) if (missing !== '') tiles.append(item)
  const isEmpty = allTiles.length === 0
  find('empty').hidden = !isEmpty
  find('gallery-actions').hidden = shown.length === 0
  find('count').textContent = isEmpty ? '' : plural(lang, words.count, shown.length)
}

function show(): void {
  allTiles = parseHash(location.hash).map(tileOf)
  tiles.replaceChildren(...allTiles.map(({ item }) => item))
  update()
  load(allTiles)
}

find('copy-gallery').addEventListener('click', (event) => {
  void copyAndSay(location.href, { button: event.currentTarget as HTMLElement })
})
find('download-gallery').addEventListener('click', async ({ currentTarget }) => {
  const button = currentTarget as HTMLButtonElement
  if (button.ariaDisabled) return
  // Not `disabled`, which would lose focus.
  button.ariaDisabled = 'true'
  const setLabel = (text: string) => {
    button.textContent = text
  }
  await import('./gallery/download-all.ts')
    .then(({ downloadAll }) => downloadAll(available(), words, setLabel))
    .catch(() => say(words.unreachable))
  button.ariaDisabled = null
  setLabel(words.downloadAll)
})
addEventListener('hashchange', show)
addEventListener('online', () => {
  for (const { retryButton, retry } of allTiles) if (retryButton) retry()
})
show()
// From here on, nothing shifts the layout.
document.documentElement.dataset.live = ''
