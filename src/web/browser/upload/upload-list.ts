/** The pictures of this visit: one card each, from the moment they are chosen. */
import type { Lifetime, Mode } from '../../../client/types.ts'
import type { EmbedCodes } from '../../pages/embed-codes.ts'
import { type Card, type CardView, createCard } from '../card/card.ts'
import { codesOf, codesOfAll, nameOf } from '../card/picture.ts'
import { codeOf, LONG_MS, viewOf, whatWasDone } from '../card/upload-card.ts'
import type { History, Remembered } from '../history/history.ts'
import type { Unsent } from '../intake/unsent.ts'
import { copyAndSay } from '../page/clipboard.ts'
import { say } from '../page/status.ts'
import { createBatch } from './batch.ts'
import { facts, inWords, words } from './facts.ts'
import { askQuota, showQuota } from './progress.ts'
import { createQueue, type Item, isUnderWay, isUnfinished, type Outlook } from './queue.ts'

/** Cards that are made before the page may draw again. */
const CARDS_AT_ONCE = 8

/** Refusals that every further upload would meet as well. */
const FINAL = new Set(['quota-exceeded', 'uploads-paused', 'storage-full'])

export interface UploadListOptions {
  history: Promise<History>
  mode(): Mode
  expires(): Lifetime | ''
  remembers(): boolean
  format(): keyof EmbedCodes
  /** Has the person edit a picture. Resolves with what is to be sent; `null` if all stays as it is. */
  edit(source: File | Remembered): Promise<File | null>
  /** Something on the list changed. */
  onChange(): void
}

interface Entry {
  card: Card
  name: string
  /** Its place among the others, as the history keeps it. By the clock, in milliseconds. */
  at: number
  /** It was made of one that stays online. */
  isEdition?: boolean | undefined
  thumbnail?: Promise<Blob | null> | undefined
  picture?: Remembered
  /** The history has it. */
  isKept?: boolean
}

type Uploading = typeof import('./uploading.ts')

const loadUploading = (): Promise<Uploading> => import('./uploading.ts')

/** False if the browser has no room left, most likely. */
function keep(history: History, picture: Remembered): Promise<boolean> {
  return history.put([picture]).then(
    () => true,
    () => false,
  )
}

export function createUploadList(options: UploadListOptions) {
  const { history, mode, expires, remembers, format, edit, onChange } = options
  const cards = document.getElementById('uploads')!
  const entries = new Map<Item, Entry>()
  const batch = createBatch()
  let uploading: Uploading | undefined
  let unsent: Promise<Unsent> | undefined
  let isBusy = false
  /** Failures whose reason is still looked for. */
  let unexplained = 0

  const queue = createQueue({
    async loadUploader() {
      uploading ??= await loadUploading()
      return uploading
    },
    maxBytes: facts.maxUploadBytes,
    convert: facts.convertsHeic,
    mustAsk({ compressed, mode, placeAllowed }) {
      const isSentAsItIs = mode === 'original' || compressed?.type === 'image/gif'
      const isKept = !facts.stripsMetadata || compressed?.type === 'image/gif'
      return Boolean(compressed?.hasLocation) && isSentAsItIs && isKept && !placeAllowed
    },
    isFinal: (error) => FINAL.has(codeOf(error)),
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
    const { card, name } = entry
    const { state } = item
    if (item.compressed || state.at === 'failed') illustrate(item, entry)
    if (state.at === 'done') {
      const settled = settle(item, entry)
      onChange()
      await settled
    } else if (state.at === 'failed') {
      state.outlook = uploading?.outlookOf(state.error)
      const { outlook } = state
      if (uploading?.isDecided(state)) release(item)
      unexplained++
      const reason =
        (await uploading?.reasonOf(state.error, item.file, item.compressed?.bytesOut)) ?? words.unreachable
      unexplained--
      if (item.state !== state) return
      batch.add({ name, reason, outlook })
      if (uploading && outlook === 'resumes') {
        uploading.whenBack(() => retryAll((outlook) => outlook === 'resumes'))
        tick(item, entry, state, uploading.viewOfResuming)
      } else card.show(uploading?.viewOfFailed(state, reason) ?? viewOf(item))
    } else {
      card.show(viewOf(item))
      if (state.at === 'compressing')
        setTimeout(() => tick(item, entry, state), Math.max(0, state.since + LONG_MS - performance.now()))
      if (state.at === 'waiting') setTimeout(() => tick(item, entry, state), 1000)
      if (state.at === 'cancelled') release(item)
    }
    if (unexplained === 0 && !queue.items.some(isUnfinished)) batch.end(() => void copyAll())
    onChange()
  }

  /** Work that takes long, and waiting, are told second by second. */
  function tick(
    item: Item,
    entry: Entry,
    state: Item['state'],
    view: (item: Item) => CardView = viewOf,
  ): void {
    if (item.state !== state || !entries.has(item)) return
    entry.card.show(view(item))
    setTimeout(() => tick(item, entry, state, view), 1000)
  }

  /** Once it is compressed: decoding the file for it would hold up the link, and the preview takes a tenth of the time. */
  function illustrate({ compressed, file }: Item, entry: Entry): void {
    if (entry.thumbnail) return
    entry.thumbnail = uploading?.thumbnailOf(compressed?.preview ?? compressed?.blob ?? file)
    void entry.thumbnail?.then((blob) => blob && entry.card.picture(blob))
  }

  /** The link is there: shows it, and remembers it. */
  async function settle(item: Item, entry: Entry): Promise<void> {
    const { state, compressed } = item
    if (state.at !== 'done' || !compressed || !uploading) return
    const { remaining } = state.sent
    const { name, isEdition } = entry
    const picture = uploading.pictureOf(item, state.sent, entry)
    entry.picture = picture
    if (remaining !== undefined) showQuota(remaining)
    uploading.isBack()
    batch.add({ name, link: codesOf(picture)[format()], remark: isEdition && words.firstStays })
    const known = await history
    const shown = (isKept: boolean) => {
      entry.isKept = isKept
      uploading?.showDone(entry.card, picture, {
        history: known,
        status: whatWasDone(compressed),
        note: uploading.notesOn(item, picture, { isEdition, isRemembered: isKept && known.lasts }),
        onEdit: () => void editUploaded(picture),
        onDeleted: () => forget(item, entry),
      })
    }
    // A person who sees the link may leave: by then its key is kept.
    const isKept = remembers() && (await keep(known, picture))
    // Not before: a page that ends in between would leave neither key nor file.
    release(item)
    shown(isKept)
    const thumbnail = isKept && (await entry.thumbnail)
    if (thumbnail) picture.thumbnail = thumbnail
    if (thumbnail && (await known.get(picture.id))) await keep(known, picture)
  }

  function release({ number }: Item): void {
    void unsent?.then((files) => files.release(number)).catch(() => {})
  }

  /** Takes a card off the list. The focus goes to its neighbour, or to where the next picture is chosen. */
  function forget(item: Item, { card }: Entry): void {
    const hadFocus = card.element.contains(document.activeElement)
    const next = card.element.nextElementSibling ?? card.element.previousElementSibling
    card.remove()
    entries.delete(item)
    queue.drop(item)
    release(item)
    onChange()
    if (hadFocus)
      (next?.querySelector<HTMLElement>('button:not([hidden])') ?? document.getElementById('file'))?.focus()
  }

  /** Tries all again that failed, or those whose outlook `isMeant`. */
  function retryAll(isMeant = (outlook?: Outlook) => outlook !== 'hopeless'): void {
    for (const item of [...queue.items])
      if (item.state.at === 'failed' && isMeant(item.state.outlook)) queue.retry(item)
  }

  /** What is not sent yet waits for the editor; what comes out of it takes its place. */
  async function editUnsent(item: Item, entry: Entry): Promise<void> {
    const wasUnderWay = isUnderWay(item)
    queue.cancel(item)
    const edited = await edit(item.file)
    if (edited) {
      batch.begin(1, false)
      const { at, name, isEdition, card } = entry
      begin(edited, { ...item, at, before: card.element, name: isEdition ? name : undefined })
      forget(item, entry)
    } else if (wasUnderWay) {
      queue.retry(item)
      keepUntilSent(item)
    }
  }

  /** Has the person make another picture of one that is uploaded. That one stays as it is, and the other gets a link of its own. */
  async function editUploaded(picture: Remembered): Promise<void> {
    const edited = await edit(picture)
    if (!edited) return
    const name = picture.name.endsWith(words.edited) ? picture.name : `${picture.name}, ${words.edited}`
    await add([edited], { copies: false, name })
  }

  interface Beginning {
    at: number
    before: Element | null
    mode: Mode
    expires: Lifetime | ''
    /** Set for an edition of one that is uploaded. */
    name?: string | undefined
  }

  function begin(file: File, { at, before, mode, expires, name: edition }: Beginning): void {
    const name = edition ?? nameOf(file)
    const card = createCard(name)
    const entry: Entry = { card, name, at, isEdition: edition !== undefined }
    card.format(format())
    cards.insertBefore(card.element, before)
    const item = queue.add(file, mode, expires)
    entries.set(item, entry)
    card.onAction = (action) => {
      if (action === 'cancel') queue.cancel(item)
      if (action === 'skip') queue.skip(item)
      if (action === 'retry') {
        queue.retry(item)
        keepUntilSent(item)
      }
      if (action === 'with-place' || action === 'without-place')
        queue.allowPlace(item, action === 'with-place')
      if (action === 'edit') void editUnsent(item, entry)
      if (action === 'dismiss') forget(item, entry)
    }
    card.show(viewOf(item))
    keepUntilSent(item)
  }

  function keepUntilSent(item: Item): void {
    if (!remembers()) return
    unsent ??= loadUploading().then(({ createUnsent }) => createUnsent())
    void unsent.then(
      (files) => isUnfinished(item) && files.keep(item.number, item.file),
      // It did not come: the next picture asks for it again.
      () => {
        unsent = undefined
      },
    )
  }

  for (const name of ['online', 'offline'])
    addEventListener(name, () => {
      for (const [item, { card }] of entries) if (item.state.at === 'waiting') card.show(viewOf(item))
    })

  /** Those that are uploaded, in order. */
  const pictures = () =>
    [...entries.values()].sort((a, b) => b.at - a.at).flatMap(({ picture }) => picture ?? [])

  async function copyAll(): Promise<void> {
    const all = pictures()
    await copyAndSay(codesOfAll(all, format()), { said: inWords.count(words.copiedAll, all.length) })
  }

  /** The place of the uppermost card. */
  let top = 0

  /** `copies`: the link of a picture that comes alone goes to the clipboard by itself. */
  async function add(files: File[], { copies, name }: { copies: boolean; name?: string }): Promise<void> {
    batch.begin(files.length, copies)
    // What comes later stands higher, but files that come together keep their order.
    const before = cards.firstElementChild
    const uppermost = Math.max(Date.now(), top + 1) + files.length - 1
    top = uppermost
    const chosen = { before, mode: mode(), expires: expires(), name }
    for (const [index, file] of files.entries()) {
      if (index % CARDS_AT_ONCE === CARDS_AT_ONCE - 1) await new Promise((resolve) => setTimeout(resolve))
      begin(file, { ...chosen, at: uppermost - index })
    }
    if (files.length > 1) say(inWords.count(words.added, files.length))
    onChange()
  }

  return {
    items: queue.items,
    /** Loads what the next picture needs and starts a worker. Never fails. */
    prepare(): void {
      // What can't be loaded now is loaded for the picture.
      loadUploading().then(
        ({ prepare }) => prepare({ codecs: false }),
        () => {},
      )
    },
    add,
    pictures,
    showFormat(chosen: keyof EmbedCodes): void {
      for (const { card } of entries.values()) card.format(chosen)
    },
    copyAll,
    retryAll: () => retryAll(),
    editUploaded,
    /** Takes off the pictures that the history no longer has: another page deleted or forgot them. */
    async dropForgotten(): Promise<void> {
      const known = await history
      for (const [item, entry] of entries) {
        if (entry.isKept && entry.picture && !(await known.get(entry.picture.id))) forget(item, entry)
      }
    },
  }
}
