/** The pictures of this visit: one card each, from the moment they are chosen. */
import type { Mode } from '../../../client/types.ts'
import type { EmbedCodes } from '../../pages/embed-codes.ts'
import { type Card, createCard } from '../card/card.ts'
import { codesOf, showPicture } from '../card/picture-card.ts'
import { thumbnailOf } from '../card/thumbnail.ts'
import { noteOn, viewOf, whatWasDone } from '../card/upload-card.ts'
import type { History, Remembered } from '../history/history.ts'
import { facts, inWords, words } from '../page/facts.ts'
import { say } from '../page/status.ts'
import { createQueue, type Item, isUnfinished } from './queue.ts'
import { askQuota, showQuota } from './quota.ts'

/** Cards that are made before the page may draw again. */
const CARDS_AT_ONCE = 8

/** Refusals that every further upload would meet as well. */
const FINAL = new Set(['quota-exceeded', 'uploads-paused', 'storage-full'])

export interface UploadListOptions {
  history: Promise<History>
  mode(): Mode
  remembers(): boolean
  format(): keyof EmbedCodes
  /** Something on the list changed. */
  onChange(): void
}

export interface UploadList {
  add(files: File[]): Promise<void>
  readonly items: readonly Item[]
  /** Those that are up, in order. */
  pictures(): Remembered[]
  showFormat(format: keyof EmbedCodes): void
}

interface Entry {
  card: Card
  thumbnail: Promise<Blob | null>
  picture?: Remembered
}

type Uploading = typeof import('./uploading.ts')

export function createUploadList(options: UploadListOptions): UploadList {
  const { history, mode, remembers, format, onChange } = options
  const list = document.getElementById('uploads')!
  const entries = new Map<Item, Entry>()
  let uploading: Uploading | undefined
  let isBusy = false

  const queue = createQueue({
    async loadUploader() {
      uploading ??= await import('./uploading.ts')
      return uploading
    },
    maxBytes: facts.maxUploadBytes,
    mustAsk({ compressed, mode, placeAllowed }) {
      const isSentAsItIs = mode === 'original' || compressed?.type === 'image/gif'
      const isKept = !facts.stripsMetadata || compressed?.type === 'image/gif'
      return Boolean(compressed?.hasLocation) && isSentAsItIs && isKept && !placeAllowed
    },
    isFinal: (error) => FINAL.has((error as { code?: string }).code ?? ''),
    onChange(item) {
      const entry = entries.get(item)
      if (entry) void show(item, entry)
      const wasBusy = isBusy
      isBusy = queue.items.some(isUnfinished)
      // Answers may arrive in another order than they were counted in.
      if (wasBusy && !isBusy) void askQuota()
    },
  })

  async function show(item: Item, entry: Entry): Promise<void> {
    const { card } = entry
    const { state } = item
    if (state.at === 'done') {
      const settled = settle(item, entry)
      onChange()
      await settled
    } else if (state.at === 'failed') {
      card.show(viewOf(item))
      const reason =
        (await uploading?.reasonOf(state.error, item.file, item.compressed?.bytesOut)) ?? words.unreachable
      if (item.state !== state) return
      card.show(viewOf(item, reason))
      say(inWords.fill(words.failed1, { name: item.file.name, reason }))
    } else {
      card.show(viewOf(item))
    }
    onChange()
  }

  /** The link is there: shows it, and remembers it. */
  async function settle(item: Item, entry: Entry): Promise<void> {
    const { state, compressed, file } = item
    if (state.at !== 'done' || !compressed) return
    const { id, key, link, remaining } = state.sent
    const { type, bytesIn, bytesOut, width, height } = compressed
    const at = new Date().toISOString()
    const picture: Remembered = { id, key, link, name: file.name, type, bytesIn, bytesOut, width, height, at }
    entry.picture = picture
    if (remaining !== undefined) showQuota(remaining)
    const isLast = !queue.items.some(isUnfinished)
    say(
      isLast && entries.size > 1
        ? inWords.count(words.allDone, queue.items.filter(({ state }) => state.at === 'done').length)
        : inWords.fill(words.ready1, { name: file.name }),
    )
    const known = await history
    const shown = (isKept: boolean) =>
      showPicture(entry.card, picture, {
        history: known,
        status: whatWasDone(compressed),
        note: noteOn(item, isKept && known.lasts),
        onDeleted: () => forget(item, entry),
      })
    const keeps = remembers()
    shown(keeps)
    if (!keeps) return
    try {
      await known.put([picture])
      const thumbnail = (await entry.thumbnail) ?? undefined
      if (thumbnail && (await known.get(id))) await known.put([{ ...picture, thumbnail }])
    } catch {
      // No room left, most likely.
      shown(false)
    }
  }

  function forget(item: Item, { card }: Entry): void {
    const next = (
      card.element.nextElementSibling ?? card.element.previousElementSibling
    )?.querySelector<HTMLElement>('button:not([hidden])')
    card.remove()
    entries.delete(item)
    queue.drop(item)
    onChange()
    ;(next ?? document.getElementById('pictures-title'))?.focus()
  }

  function begin(file: File, before: Element | null): void {
    const card = createCard(file.name || words.thumbnail)
    const entry: Entry = { card, thumbnail: thumbnailOf(file) }
    card.format(format())
    list.insertBefore(card.element, before)
    const item = queue.add(file, mode())
    entries.set(item, entry)
    card.onAction = (action) => {
      if (action === 'cancel') queue.cancel(item)
      if (action === 'retry') queue.retry(item)
      if (action === 'with-place' || action === 'without-place')
        queue.allowPlace(item, action === 'with-place')
      if (action === 'dismiss') forget(item, entry)
    }
    card.show(viewOf(item))
    void entry.thumbnail.then((blob) => blob && card.picture(blob))
  }

  return {
    items: queue.items,
    async add(files) {
      // What comes later stands higher, but files that come together keep their order.
      const before = list.firstElementChild
      for (const [index, file] of files.entries()) {
        if (index % CARDS_AT_ONCE === CARDS_AT_ONCE - 1) await new Promise((resolve) => setTimeout(resolve))
        begin(file, before)
      }
      if (files.length > 1) say(inWords.count(words.added, files.length))
      onChange()
    },
    pictures: () => [...entries.values()].flatMap(({ picture }) => picture ?? []),
    showFormat(chosen) {
      for (const { card } of entries.values()) card.format(chosen)
    },
  }
}

export function codesOfAll(pictures: Remembered[], format: keyof EmbedCodes): string {
  return pictures.map((picture) => codesOf(picture)[format]).join('\n')
}
