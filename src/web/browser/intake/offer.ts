/** Shows kept files and asks: they are sent only when the person says so. */
import '../../style/offer.css'
import { thumbnailOf } from '../card/thumbnail.ts'
import { say } from '../page/status.ts'
import { inWords, words } from '../upload/facts.ts'
import { forgetGroup, type Group, type KeptFile, keptFiles, SHARED } from './kept-files.ts'
import { unsentGroups } from './unsent.ts'

/** Files that are shown; the others are counted. */
const SHOWN = 8

export interface OfferOptions {
  /** The share sheet brought the person here. */
  isShared: boolean
  /** Number of shared files that did not fit. */
  left: number
  /** Resolves with whether any of them was taken. */
  onFiles(files: File[]): Promise<boolean>
  /** The offer came, or went. */
  onChange(): void
}

/** Held by the page that takes kept files: no other page takes the same. */
const LOCK = 'offer'

/** Offers what was shared, then what was left unsent; that may take until another page is closed. */
export async function offerKept({ isShared, left, onFiles, onChange }: OfferOptions): Promise<void> {
  const shared = await keptFiles(SHARED)
  const groups = shared.length > 0 ? [SHARED] : await unsentGroups()
  const kept = await keptIn(groups)
  if (kept.length === 0) {
    if (isShared) say(left > 0 ? inWords.count(words.sharedLeft, left) : words.nothing)
    return
  }
  show(kept, shared.length > 0, left)
  onChange()
  // The page may have moved under it. A person who is at something else meanwhile keeps the focus.
  const title = document.getElementById('offer-title')!
  if (document.activeElement === document.body) title.focus()
  else say(title.textContent)
  const find = (id: string) => document.getElementById(id)!
  const close = async () => {
    find('offer').hidden = true
    onChange()
    document.getElementById('file')?.focus()
    for (const group of groups) await forgetGroup(group)
    void offerKept({ isShared: false, left: 0, onFiles, onChange })
  }
  find('offer-send').onclick = () =>
    void navigator.locks.request(LOCK, async () => {
      // Another page may have taken them meanwhile.
      const files = (await keptIn(groups)).map(({ file }) => file)
      // Files that are not taken are kept: the editor may fail to load, or no uploads may be left today.
      if (files.length === 0 || (await onFiles(files))) await close()
    })
  find('offer-discard').onclick = () => void close()
}

const keptIn = async (groups: Group[]) => (await Promise.all(groups.map(keptFiles))).flat()

function show(kept: KeptFile[], isShared: boolean, left: number): void {
  const heading = document.getElementById('offer-title')!
  heading.textContent = inWords.count(isShared ? words.shared : words.unsent, kept.length)
  document.getElementById('offer-detail')!.textContent = isShared
    ? [words.sharedDetail, left > 0 && inWords.count(words.sharedLeft, left)].filter(Boolean).join(' ')
    : words.unsentDetail
  const list = document.getElementById('offer-files')!
  list.replaceChildren(...kept.slice(0, SHOWN).map(({ file }) => entry(file)))
  if (kept.length > SHOWN) {
    const more = document.createElement('li')
    more.textContent = inWords.fill(words.andMore, { count: kept.length - SHOWN })
    list.append(more)
  }
  document.getElementById('offer')!.hidden = false
}

function entry(file: File): HTMLLIElement {
  const item = document.createElement('li')
  const image = document.createElement('img')
  image.alt = ''
  image.width = image.height = 56
  void thumbnailOf(file).then((blob) => {
    if (blob) image.src = URL.createObjectURL(blob)
  })
  const name = document.createElement('span')
  name.textContent = `${file.name || words.picture}, ${inWords.bytes(file.size)}`
  item.append(image, name)
  return item
}
