/** The list of this visit's uploads, one card each. */
import type { Lifetime, Mode } from '../../../client/types.ts'
import type { EmbedCodes } from '../../pages/embed-codes.ts'
import { type Card, type CardView, createCard } from '../card/card.ts'
import { nameOf } from '../card/picture.ts'
import { codeOf, SKIPPABLE_MS, viewOf } from '../card/upload-card.ts'
import type { History, HistoryEntry } from '../history/history.ts'
import type { Unsent } from '../intake/unsent.ts'
import { copyAndSay } from '../page/clipboard.ts'
import { say } from '../page/status.ts'
import { createBatch } from './batch.ts'
import { facts, inWords, words } from './facts.ts'
import { refreshQuota, showQuota } from './progress.ts'
import { createQueue, type Item, isPending, isUnfinished, type Outlook, type State } from './queue.ts'

/** Cards created before yielding to the browser to paint. */
const CARDS_PER_TASK = 8

export interface UploadListOptions {
  history: Promise<History>
  mode(): Mode
  expires(): Lifetime | ''
  remembers(): boolean
  format(): keyof EmbedCodes
  /** Opens the editor. Resolves with the file to send, or `null` without changes. */
  edit(source: File | HistoryEntry): Promise<File | null>
  /** Called when the list changed. */
  onChange(): void
}

interface Entry {
  card: Card
  name: string
  /** Sort key and upload time in the history. Epoch milliseconds. */
  at: number
  /** Made from a picture that stays online. */
  isEdited?: boolean | undefined
  thumbnail?: Promise<Blob | null> | undefined
  picture?: HistoryEntry
  /** Saved in the history. */
  isSaved?: boolean
}

type Uploading = typeof import('./uploading.ts')

const loadUploading = (): Promise<Uploading> => import('./uploading.ts')

export function createUploadList(options: UploadListOptions) {
  const { history, mode, expires, remembers, format, edit, onChange } = options
  const cards = document.getElementById('uploads')!
  const entries = new Map<Item, Entry>()
  const batch = createBatch()
  let uploading: Uploading | undefined
  let unsent: Promise<Unsent> | undefined
  let isBusy = false
  /** Failures whose reason is still being determined. */
  let pendingReasons = 0

  const queue = createQueue({
    async loadUploader() {
      uploading ??= await loadUploading()
      return uploading
    },
    maxBytes: facts.maxUploadBytes,
    convert: facts.convertsHeic,
    mustAsk: (item) => uploading!.mustAsk(item),
    isFinal: (error) => uploading!.FATAL_CODES.has(codeOf(error)),
    onChange(item) {
      const entry = entries.get(item)
      if (entry) void show(item, entry)
      const wasBusy = isBusy
      isBusy = queue.items.some(isUnfinished)
      // Responses may arrive out of order, so the last one seen may not have the current quota.
      if (wasBusy && !isBusy) void refreshQuota()
    },
  })

  async function show(item: Item, entry: Entry): Promise<void> {
    const { card, name } = entry
    const { state } = item
    if (item.compressed || state.at === 'failed') showThumbnail(item, entry)
    if (state.at === 'done') {
      const completed = complete(item, entry)
      onChange()
      await completed
    } else if (state.at === 'failed') {
      const { outlookOf, isRejected, reasonOf, onceReachable, viewOfResuming, viewOfFailed } = uploading!
      const outlook = outlookOf(state.error)
      state.outlook = outlook
      if (isRejected(state)) release(item)
      pendingReasons++
      const reason = await reasonOf(state.error, item.file, item.compressed?.bytesOut)
      pendingReasons--
      if (item.state !== state) return
      batch.add({ name, reason, outlook })
      if (outlook === 'transient') {
        onceReachable(() => retryAll((outlook) => outlook === 'transient'))
        tick(item, entry, state, viewOfResuming)
      } else card.show(viewOfFailed(state, reason))
    } else {
      card.show(currentView(item))
      if (state.at === 'compressing')
        setTimeout(() => tick(item, entry, state), state.since + SKIPPABLE_MS - performance.now())
      if (state.at === 'waiting') setTimeout(() => tick(item, entry, state), 1000)
      if (state.at === 'cancelled') release(item)
    }
    if (pendingReasons === 0 && !queue.items.some(isUnfinished))
      batch.end({ onCopy: copyAll, copyLabel: pictures().length > 1 ? words.copyAll : words.copy })
    onChange()
  }

  const currentView = (item: Item) => (uploading?.viewOfSending ?? viewOf)(item)

  /** Updates the card every second while the state lasts. */
  function tick(item: Item, entry: Entry, state: State, view: (item: Item) => CardView = currentView): void {
    if (item.state !== state || !entries.has(item)) return
    entry.card.show(view(item))
    setTimeout(() => tick(item, entry, state, view), 1000)
  }

  /** Runs after compression: decoding the file earlier would delay the upload, and the preview decodes ten times faster. */
  function showThumbnail({ compressed, file }: Item, entry: Entry): void {
    if (entry.thumbnail) return
    entry.thumbnail = uploading?.thumbnailOf(compressed?.preview ?? compressed?.blob ?? file)
    void entry.thumbnail?.then((blob) => blob && entry.card.picture(blob))
  }

  /** Shows the link of a finished upload and saves it to the history. */
  async function complete(item: Item, entry: Entry): Promise<void> {
    const { state, compressed } = item
    if (state.at !== 'done' || !compressed || !uploading) return
    const { remaining } = state.sent
    const { name, isEdited } = entry
    const picture = uploading.entryOf(item, state.sent, entry)
    entry.picture = picture
    if (remaining !== undefined) showQuota(remaining)
    uploading.resetBackoff()
    batch.add({ name, link: uploading.codesOf(picture)[format()], remark: isEdited && words.firstStays })
    const known = await history
    const showDone = (isSaved: boolean) => {
      entry.isSaved = isSaved
      uploading?.showDone(entry.card, picture, {
        history: known,
        status: uploading!.describeCompression(compressed),
        note: uploading.notesFor(item, picture, { isEdited, isRemembered: isSaved && known.lasts }),
        onEdit: () => void editUploaded(picture),
        onDeleted: () => removeCard(item, entry),
      })
    }
    // Save the key before showing the link, because the user may leave as soon as it appears.
    const isSaved = remembers() && (await known.put([picture]))
    // Only after saving: a page closed in between would lose both the key and the file.
    release(item)
    showDone(isSaved)
    const thumbnail = isSaved && (await entry.thumbnail)
    if (!thumbnail) return
    picture.thumbnail = thumbnail
    await known.update(picture)
  }

  function release({ number }: Item): void {
    void unsent?.then((files) => files.release(number)).catch(() => {})
  }

  /** Removes a card and moves focus to its neighbour, or to the file picker. */
  function removeCard(item: Item, { card }: Entry): void {
    const hadFocus = card.element.contains(document.activeElement)
    const next = card.element.nextElementSibling ?? card.element.previousElementSibling
    card.remove()
    entries.delete(item)
    // An edited copy may replace one that was retried in the meantime.
    queue.cancel(item)
    queue.drop(item)
    release(item)
    onChange()
    if (hadFocus)
      (next?.querySelector<HTMLElement>('button:not([hidden])') ?? document.getElementById('file'))?.focus()
  }

  /** Retries failed uploads whose outlook matches the filter. Default: all that can succeed. */
  function retryAll(matches = (outlook?: Outlook) => outlook !== 'permanent'): void {
    for (const item of [...queue.items])
      if (item.state.at === 'failed' && matches(item.state.outlook)) queue.retry(item)
  }

  /** Pictures whose editor is open or loading. Until it closes, their cards can still be pressed, but do nothing. */
  const inEditor = new Set<File | HistoryEntry>()

  async function editOnce(source: File | HistoryEntry): Promise<File | null> {
    if (inEditor.has(source)) return null
    inEditor.add(source)
    return edit(source).finally(() => inEditor.delete(source))
  }

  /** Cancels an unfinished upload while the editor is open, then replaces it with the edited file or restarts it. */
  async function editPending(item: Item, entry: Entry): Promise<void> {
    const wasPending = isPending(item)
    queue.cancel(item)
    const edited = await editOnce(item.file)
    if (edited) {
      batch.begin(1, false)
      const { at, name, isEdited, card } = entry
      begin(edited, { ...item, at, before: card.element, name: isEdited ? name : undefined })
      removeCard(item, entry)
    } else if (wasPending) {
      queue.retry(item)
      keepUntilSent(item)
    }
  }

  /** Uploads an edited copy of an uploaded picture under its own link. The original stays as it is. */
  async function editUploaded(picture: HistoryEntry): Promise<void> {
    const edited = await editOnce(picture)
    if (!edited) return
    const name = picture.name.endsWith(words.edited) ? picture.name : `${picture.name}, ${words.edited}`
    await add([edited], { autoCopy: false, name })
  }

  interface BeginOptions {
    at: number
    before: Element | null
    mode: Mode
    expires: Lifetime | ''
    /** Set for an edited copy of an uploaded picture. */
    name?: string | undefined
  }

  function begin(file: File, { at, before, mode, expires, name: copyName }: BeginOptions): void {
    const name = copyName ?? nameOf(file)
    const card = createCard(name)
    const entry: Entry = { card, name, at, isEdited: copyName !== undefined }
    card.format(format())
    cards.insertBefore(card.element, before)
    const item = queue.add(file, mode, expires)
    entries.set(item, entry)
    card.onAction = (action) => {
      if (inEditor.has(file)) return
      if (action === 'cancel') queue.cancel(item)
      if (action === 'skip') queue.skip(item)
      if (action === 'retry') {
        queue.retry(item)
        keepUntilSent(item)
      }
      if (action === 'with-place' || action === 'without-place')
        queue.allowLocation(item, action === 'with-place')
      if (action === 'edit') void editPending(item, entry)
      if (action === 'dismiss') removeCard(item, entry)
    }
    card.show(viewOf(item))
    keepUntilSent(item)
  }

  function keepUntilSent(item: Item): void {
    if (!remembers()) return
    unsent ??= loadUploading().then(({ createUnsent }) => createUnsent())
    void unsent.then(
      (files) => isUnfinished(item) && files.keep(item.number, item.file),
      // Loading failed: the next picture tries again.
      () => {
        unsent = undefined
      },
    )
  }

  for (const name of ['online', 'offline'])
    addEventListener(name, () => {
      for (const [item, { card }] of entries) if (item.state.at === 'waiting') card.show(currentView(item))
    })

  /** Uploaded pictures, in order. */
  const pictures = () =>
    [...entries.values()].sort((a, b) => b.at - a.at).flatMap(({ picture }) => picture ?? [])

  async function copyAll(): Promise<void> {
    const all = pictures()
    await copyAndSay(uploading!.codesOfAll(all, format()), {
      said: inWords.count(words.copiedAll, all.length),
    })
  }

  /** Sort key of the topmost card. */
  let topKey = 0

  /** `autoCopy`: copies the link of a single picture automatically. */
  async function add(files: File[], { autoCopy, name }: { autoCopy: boolean; name?: string }): Promise<void> {
    batch.begin(files.length, autoCopy)
    // Later files go on top, but files added together keep their order.
    const before = cards.firstElementChild
    const firstKey = Math.max(Date.now(), topKey + 1) + files.length - 1
    topKey = firstKey
    const chosen = { before, mode: mode(), expires: expires(), name }
    for (const [index, file] of files.entries()) {
      // The first task has only one: the browser has already spent much of it on the files.
      if (index % CARDS_PER_TASK === 1) await new Promise((resolve) => setTimeout(resolve))
      begin(file, { ...chosen, at: firstKey - index })
    }
    if (files.length > 1) say(inWords.count(words.added, files.length))
    onChange()
  }

  return {
    items: queue.items,
    /** Preloads the upload code and starts a worker. Never fails. */
    prepare(): void {
      loadUploading().then(
        ({ prepare }) => prepare(),
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
    /** Removes pictures that another tab deleted from the history. */
    async removeForgotten(): Promise<void> {
      const known = await history
      for (const [item, entry] of entries) {
        if (entry.isSaved && entry.picture && !(await known.get(entry.picture.id))) removeCard(item, entry)
      }
    },
  }
}
