/** Shows kept files and asks: they are sent only when the person says so. */
import '../../style/offer.css'
import { thumbnailOf } from '../card/thumbnail.ts'
import { say } from '../page/status.ts'
import { inWords, words } from '../upload/facts.ts'
import { isFull, quotaUsedUp } from '../upload/progress.ts'
import { forgetGroup, type Group, type KeptFile, keptFiles } from './kept-files.ts'
import { unsentGroups } from './unsent.ts'

/** Files that are shown; the others are counted. */
const SHOWN = 8

export interface OfferOptions {
  /** The share sheet brought the person here. */
  isShared: boolean
  onFiles(files: File[]): void
  /** The offer came, or went. */
  onChange(): void
}

/** Offers what was shared, else what was left unsent; that may take until another page is closed. */
export async function offerKept({ isShared, onFiles, onChange }: OfferOptions): Promise<void> {
  const groups = isShared ? ['shared'] : await unsentGroups()
  const kept = (await Promise.all(groups.map(keptFiles))).flat()
  if (kept.length === 0) {
    if (isShared) say(words.nothing)
    return
  }
  show(kept, isShared)
  onChange()
  // The page may have moved under it. A person who is at something else meanwhile keeps the focus.
  const title = document.getElementById('offer-title')!
  if (document.activeElement === document.body) title.focus()
  else say(title.textContent)
  const find = (id: string) => document.getElementById(id)!
  find('offer-send').onclick = () => {
    // What can't be sent today is offered tomorrow.
    if (isFull()) return say(quotaUsedUp())
    void close(groups, onChange)
    onFiles(kept.map(({ file }) => file))
  }
  find('offer-discard').onclick = () => void close(groups, onChange)
}

async function close(groups: Group[], onChange: () => void): Promise<void> {
  document.getElementById('offer')!.hidden = true
  onChange()
  document.getElementById('file')?.focus()
  for (const group of groups) await forgetGroup(group)
}

function show(kept: KeptFile[], isShared: boolean): void {
  const heading = document.getElementById('offer-title')!
  heading.textContent = inWords.count(isShared ? words.shared : words.unsent, kept.length)
  document.getElementById('offer-detail')!.textContent = isShared ? words.sharedDetail : words.unsentDetail
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
