/** Several pictures under one link: `/g#<id>,<id>,…`. The server never learns which. */
import { ID_PATTERN, rawPath, viewPath } from '../../protocol.ts'
import { fill, plural } from '../messages/wording.ts'
import type { GalleryFacts } from '../pages/page-facts.ts'
import { createLightbox } from './gallery/lightbox.ts'
import { copyAndSay } from './page/clipboard.ts'
import { pageFacts } from './page/facts.ts'

/** More than any list that people make by hand. */
const MOST = 500

/** For so long the first picture has the line to itself: one is seen soon, rather than all of them late. */
const FIRST_ALONE_MS = 1000

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
  const image = document.createElement('img')
  image.alt = ''
  image.loading = index === 0 ? 'eager' : 'lazy'
  image.decoding = 'async'
  image.fetchPriority = index === 0 ? 'high' : 'low'
  image.addEventListener('error', () => {
    item.dataset.gone = ''
    const note = document.createElement('span')
    note.textContent = words.gone
    item.replaceChildren(note)
  })
  link.append(image)
  item.append(link)
  const load = () => {
    image.src = rawPath(id)
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
  // Once it is painted, or can't be.
  const onceDecoded = () => requestAnimationFrame(() => setTimeout(loadOthers))
  first.image.decode().then(onceDecoded, onceDecoded)
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
