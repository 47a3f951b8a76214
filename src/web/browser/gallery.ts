/** Several pictures under one link: `/g#<id>,<id>,…`. The server never learns which. */
import { ID_PATTERN, previewPath, viewPath } from '../../protocol.ts'
import { fill, plural } from '../messages/wording.ts'
import type { GalleryFacts } from '../pages/page-facts.ts'
import { createLightbox } from './gallery/lightbox.ts'
import { copyAndSay } from './page/clipboard.ts'
import { pageFacts } from './page/facts.ts'

/** More than any list that people make by hand. */
const MOST = 500

/** Load the first picture alone for at most this long: one is seen soon, rather than all of them late. */
const FIRST_ALONE_MS = 4000

/** What has arrived is painted by then, in a browser that does not tell when. Unit: milliseconds. */
const PAINTING_MS = 500

/** The page asks for the first picture before this script is there. */
const { begun } = globalThis as { begun?: HTMLImageElement }

const { lang, words } = pageFacts as GalleryFacts
const find = (id: string) => document.getElementById(id)!
const tiles = find('tiles')

/** In order, each once. Anybody may have made the link: what is no id is left out. */
function idsOf(hash: string): string[] {
  const ids = hash.slice(1).split(/[,+]|%2C/i)
  return [...new Set(ids)].filter((id) => ID_PATTERN.test(id)).slice(0, MOST)
}

interface Tile {
  item: HTMLLIElement
  image: HTMLImageElement
  load(): void
}

function tileOf(id: string, index: number, count: number, open: (index: number) => void): Tile {
  const item = document.createElement('li')
  const link = document.createElement('a')
  link.href = viewPath(id)
  link.setAttribute('aria-label', fill(words.open, { number: index + 1, count }))
  link.addEventListener('click', (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    open(index)
  })
  const image = begun?.getAttribute('src') === previewPath(id) ? begun : document.createElement('img')
  image.alt = ''
  image.loading = index === 0 ? 'eager' : 'lazy'
  image.decoding = 'async'
  image.fetchPriority = index === 0 ? 'high' : 'low'
  const gone = () => {
    item.dataset.gone = ''
    const note = document.createElement('span')
    note.textContent = words.gone
    item.replaceChildren(note)
  }
  image.addEventListener('error', gone)
  link.append(image)
  item.append(link)
  const load = () => {
    if (image !== begun) image.src = previewPath(id)
    // It failed before anybody listened.
    else if (image.complete && image.naturalWidth === 0) gone()
  }
  return { item, image, load }
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

function show(): void {
  const ids = idsOf(location.hash)
  const isEmpty = ids.length === 0
  const lightbox = createLightbox(ids, words)
  find('empty').hidden = !isEmpty
  find('copy-gallery').hidden = isEmpty
  find('count').textContent = isEmpty ? '' : plural(lang, words.count, ids.length)
  const made = ids.map((id, index) => tileOf(id, index, ids.length, lightbox.open))
  tiles.replaceChildren(...made.map(({ item }) => item))
  load(made)
}

find('copy-gallery').addEventListener('click', (event) => {
  void copyAndSay(location.href, { button: event.currentTarget as HTMLElement })
})
addEventListener('hashchange', show)
show()
// From now on nothing comes that would move what is there.
document.documentElement.dataset.live = ''
