/** Offers kept files for upload. They are sent only after confirmation. */
import '../../style/offer.css'
import { thumbnailOf } from '../card/thumbnail.ts'
import { say } from '../page/status.ts'
import { inWords, words } from '../upload/facts.ts'
import { forgetGroup, type Group, keptFiles, SHARED } from './kept-files.ts'
import { unsentGroups } from './unsent.ts'

/** Maximum number of files listed; the rest are counted. */
const MAX_SHOWN = 8

export interface OfferOptions {
  /** Opened by the share sheet. */
  isShared: boolean
  /** Number of shared files that didn't fit. */
  omitted: number
  /** Resolves with true if any file was added. */
  onFiles(files: File[]): Promise<boolean>
  /** The offer appeared or disappeared. */
  onChange(): void
}

/** Held while taking kept files, so that no two tabs take the same ones. */
const LOCK = 'offer'

/** Offers shared files first, then unsent ones. May wait until another tab closes. */
export async function offerKept({ isShared, omitted, onFiles, onChange }: OfferOptions): Promise<void> {
  const shared = await keptFiles(SHARED)
  const groups = shared.length > 0 ? [SHARED] : await unsentGroups()
  const kept = await filesIn(groups)
  if (kept.length === 0) {
    if (isShared) say(omitted > 0 ? inWords.count(words.sharedLeft, omitted) : words.nothing)
    return
  }
  show(kept, shared.length > 0, omitted)
  onChange()
  // Take focus only if nothing else has it; otherwise announce the offer.
  const title = document.getElementById('offer-title')!
  if (document.activeElement === document.body) title.focus()
  else say(title.textContent)
  const find = (id: string) => document.getElementById(id)!
  const close = async () => {
    find('offer').hidden = true
    onChange()
    document.getElementById('file')?.focus()
    for (const group of groups) await forgetGroup(group)
    void offerKept({ isShared: false, omitted: 0, onFiles, onChange })
  }
  find('offer-send').onclick = () =>
    void navigator.locks.request(LOCK, async () => {
      // Another tab may have taken them in the meantime.
      const files = await filesIn(groups)
      // Or a newer share may have replaced them: only files that were shown are sent.
      if (files.length > 0 && summaryOf(files) !== summaryOf(kept))
        return void offerKept({ isShared, omitted: 0, onFiles, onChange })
      // Keep the files if none were added: the editor may have failed to load, or the quota may be used up.
      if (files.length === 0 || (await onFiles(files))) await close()
    })
  find('offer-discard').onclick = () => void close()
}

const summaryOf = (files: File[]) => JSON.stringify(files.map(({ name, size }) => [name, size]))

const filesIn = async (groups: Group[]) => (await Promise.all(groups.map(keptFiles))).flat()

function show(kept: File[], isShared: boolean, omitted: number): void {
  const heading = document.getElementById('offer-title')!
  heading.textContent = inWords.count(isShared ? words.shared : words.unsent, kept.length)
  document.getElementById('offer-detail')!.textContent = isShared
    ? [words.sharedDetail, omitted > 0 && inWords.count(words.sharedLeft, omitted)].filter(Boolean).join(' ')
    : words.unsentDetail
  const list = document.getElementById('offer-files')!
  list.replaceChildren(...kept.slice(0, MAX_SHOWN).map(entry))
  if (kept.length > MAX_SHOWN) {
    const more = document.createElement('li')
    more.textContent = inWords.fill(words.andMore, { count: kept.length - MAX_SHOWN })
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
    if (!blob) return
    image.src = URL.createObjectURL(blob)
    image.onload = () => URL.revokeObjectURL(image.src)
  })
  const name = document.createElement('span')
  name.textContent = `${file.name || words.picture}, ${inWords.bytes(file.size)}`
  item.append(image, name)
  return item
}
