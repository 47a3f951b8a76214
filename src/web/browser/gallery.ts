/** Several pictures under one link: `/g#<id>,<id>=<description>,…`. The server never learns which. */
import { previewPath, rawPath, viewPath } from '../../protocol.ts'
import { fill, plural } from '../messages/wording.ts'
import type { GalleryFacts } from '../pages/page-facts.ts'
import { createLightbox } from './gallery/lightbox.ts'
import { type Linked, linkedIn } from './gallery/link.ts'
import { copyAndSay } from './page/clipboard.ts'
import { pageFacts } from './page/facts.ts'
import { say } from './page/status.ts'

/** Load the first picture alone for at most this long: one is seen soon, rather than all of them late. */
const FIRST_ALONE_MS = 4000

/** What has arrived is painted by then, in a browser that does not tell when. Unit: milliseconds. */
const PAINTING_MS = 500

/** The page asks for the first picture before this script is there. */
const { begun } = globalThis as { begun?: HTMLImageElement }

const { lang, words } = pageFacts as GalleryFacts
const find = (id: string) => document.getElementById(id)!
const tiles = find('tiles')

interface Tile extends Linked {
  item: HTMLLIElement
  link: HTMLAnchorElement
  image: HTMLImageElement
  /** Why nobody can see it any more; empty if that is not so. */
  missing: string
  /** There if it did not come: it may yet. */
  again: HTMLButtonElement | null
  load(): void
  retry(): void
}

function tileOf(
  { id, alt }: Linked,
  index: number,
  onOpen: (id: string) => void,
  onMissing: () => void,
): Tile {
  const item = document.createElement('li')
  const link = document.createElement('a')
  link.href = viewPath(id)
  link.addEventListener('click', (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    onOpen(id)
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
  const fail = async () => {
    tile.missing = await whyMissing(id)
    item.toggleAttribute('data-gone', tile.missing !== '')
    item.toggleAttribute('data-failed', tile.missing === '')
    const note = document.createElement('span')
    note.textContent = tile.missing || words.unreachable
    if (tile.missing === '') {
      tile.again = buttonOf(words.retry, retry)
      show(note, tile.again)
    } else show(note)
    onMissing()
  }
  const retry = () => {
    tile.again = null
    delete item.dataset.failed
    show(link)
    image.src = previewPath(id)
  }
  image.addEventListener('error', () => void fail())
  link.append(image)
  item.append(link)
  const load = () => {
    if (image !== begun) image.src = previewPath(id)
    // It failed before anybody listened.
    else if (image.complete && image.naturalWidth === 0) void fail()
  }
  const tile: Tile = { id, alt, item, link, image, missing: '', again: null, load, retry }
  return tile
}

function buttonOf(text: string, onClick: () => void): HTMLButtonElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'button quiet'
  button.textContent = text
  button.addEventListener('click', onClick)
  return button
}

/** A picture that does not come is not deleted by that: only the service can say so. Else empty. */
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
  first.image.decode().then(() => setTimeout(loadOthers, PAINTING_MS), loadOthers)
}

/** The first picture is the largest thing on the page so far, which browsers tell of when they have painted it. */
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

let tilesShown: Tile[] = []

const inSight = () => tilesShown.filter(({ missing }) => missing === '')

/** Says how many there are, and puts what can't be seen behind what can. */
function count(): void {
  const seen = inSight()
  for (const [index, { link, again, alt }] of seen.entries()) {
    const name = fill(words.open, { number: index + 1, count: seen.length })
    link.setAttribute('aria-label', alt ? `${name}: ${alt}` : name)
    again?.setAttribute('aria-label', `${words.retry}: ${name}`)
  }
  for (const { item, missing } of tilesShown) if (missing !== '') tiles.append(item)
  const isEmpty = tilesShown.length === 0
  find('empty').hidden = !isEmpty
  find('gallery-actions').hidden = seen.length === 0
  find('count').textContent = isEmpty ? '' : plural(lang, words.count, seen.length)
}

function show(): void {
  const linked = linkedIn(location.hash)
  const open = (id: string) => createLightbox(inSight(), words).open(id)
  tilesShown = linked.map((each, index) => tileOf(each, index, open, count))
  tiles.replaceChildren(...tilesShown.map(({ item }) => item))
  count()
  load(tilesShown)
}

find('copy-gallery').addEventListener('click', (event) => {
  void copyAndSay(location.href, { button: event.currentTarget as HTMLElement })
})
find('download-gallery').addEventListener('click', async ({ currentTarget }) => {
  const button = currentTarget as HTMLButtonElement
  if (button.ariaDisabled) return
  // Not `disabled`, which would lose the focus.
  button.ariaDisabled = 'true'
  const tell = (text: string) => {
    button.textContent = text
  }
  await import('./gallery/download-all.ts')
    .then(({ downloadAll }) => downloadAll(inSight(), words, tell))
    .catch(() => say(words.unreachable))
  button.ariaDisabled = null
  tell(words.downloadAll)
})
addEventListener('hashchange', show)
addEventListener('online', () => {
  for (const { again, retry } of tilesShown) if (again) retry()
})
show()
// From now on nothing comes that would move what is there.
document.documentElement.dataset.live = ''
