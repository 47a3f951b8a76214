/** Entry script of the home page. */
import type { Lifetime, Mode } from '../../client/types.ts'
import type { TrustedTypes } from '../../client/worker/browser-host.ts'
import type { EmbedCodes } from '../pages/embed-codes.ts'
import { SHARED_QUERY } from '../share-path.ts'
import { makeGallery } from './card/picture.ts'
import { type HistoryEntry, openHistory } from './history/history.ts'
import type { Panel } from './history/panel.ts'
import { rememberChoice, rememberMode, rememberSwitch } from './history/preferences.ts'
import { acceptDrops, acceptPastes } from './intake/drop.ts'
import { guardQuestions } from './page/questions.ts'
import { say } from './page/status.ts'
import { facts, words } from './upload/facts.ts'
import { confirmLeaving, isQuotaUsedUp, quotaMessage, refreshQuota, showTotals } from './upload/progress.ts'
import type { Item } from './upload/queue.ts'
import { createUploadList } from './upload/upload-list.ts'

const find = <E extends HTMLElement>(id: string) => document.getElementById(id) as E
const root = document.documentElement
const format = find<HTMLSelectElement>('format')
const options = find<HTMLDetailsElement>('options') as HTMLDetailsElement | null
const history = openHistory()
let panel: Panel | undefined

const editFirst = rememberSwitch(find('edit-first'))
const autoCopies = rememberSwitch(find('auto-copy'))
const formatNow = () => format.value as keyof EmbedCodes

const uploads = createUploadList({
  history,
  mode: rememberMode([...document.querySelectorAll<HTMLInputElement>('input[name="mode"]')]) as () => Mode,
  expires: rememberChoice(find<HTMLSelectElement>('expires')) as () => Lifetime | '',
  remembers: rememberSwitch(find('remember')),
  format: formatNow,
  edit: editOne,
  onChange: update,
})

function update(): void {
  const hasItems = uploads.items.length > 0
  // With uploads or an offer on the page, the upload form shrinks to one row.
  const isBusy = hasItems || !find('offer').hidden
  if (options && isBusy !== root.hasAttribute('data-busy')) {
    const hadFocus = options.contains(document.activeElement)
    options.open = !isBusy
    // A hidden element must not keep focus.
    if (hadFocus && isBusy) options.querySelector('summary')!.focus()
  }
  root.toggleAttribute('data-busy', isBusy)
  find('pictures').hidden = !hasItems && !panel?.size
  find('pictures-head').hidden = !hasItems
  const isExpected = ({ state }: Item) => state.at !== 'failed' && state.at !== 'cancelled'
  for (const id of ['copy-all', 'one-link']) {
    const button = find<HTMLButtonElement>(id)
    // Here from the beginning, so that the cards below stay in place.
    button.hidden = uploads.items.filter(isExpected).length < 2
    button.disabled = uploads.pictures().length < 2
  }
  const canRetry = ({ state }: Item) => state.at === 'failed' && state.outlook !== 'permanent'
  find('retry-all').hidden = uploads.items.filter(canRetry).length < 2
  showTotals(uploads.items)
}

/** The last task that may use the editor. */
let lastTask: Promise<unknown> = Promise.resolve()

/** There is only one, full-page editor, so anything that arrives while it is open waits until it closes. */
function serialize<T>(work: () => Promise<T>): Promise<T> {
  const done = lastTask.then(work)
  lastTask = done.catch(() => {})
  return done
}

/** Resolves with true if any file was added to the list. */
function addFiles(files: File[], autoCopy = false): Promise<boolean> {
  return serialize(async () => {
    if (files.length === 0 || isQuotaUsedUp()) {
      say(files.length === 0 ? words.nothing : quotaMessage())
      return false
    }
    const chosen = editFirst() ? await edited(files) : files
    if (chosen.length > 0) await uploads.add(chosen, { autoCopy: autoCopy && autoCopies() })
    return chosen.length > 0
  })
}

/** Empty if the editor fails to load: files meant to be edited first are never sent unedited. */
async function edited(files: File[]): Promise<File[]> {
  const editor = await loadEditor()
  return editor ? editor.edit(files) : []
}

/** Edits a picture that already has a card or row. */
function editOne(source: File | HistoryEntry): Promise<File | null> {
  return serialize(async () => {
    const editor = await loadEditor()
    return (await editor?.editAgain(source).catch(() => say(words.unreachable))) ?? null
  })
}

async function loadEditor() {
  const editor = await import('./editor/editor.ts').catch(() => null)
  if (!editor) say(words.unreachable)
  return editor
}

const form = document.getElementById('upload')
if (form) {
  const input = find<HTMLInputElement>('file')
  input.multiple = true
  // Apple's file pickers convert HEIC to JPEG unless `accept` lists HEIC.
  if (facts.convertsHeic && !/^Apple/.test(navigator.vendor)) input.accept += ',.heic,.heif,.hif,.jxl'
  input.addEventListener('change', () => {
    void addFiles([...input.files!], true)
    input.value = ''
  })
  input.addEventListener('click', uploads.prepare)
  form.addEventListener('submit', (event) => event.preventDefault())
  const onLink = () => say(words.foreign)
  const onFiles = (files: File[]) => void addFiles(files, true)
  acceptDrops({ onDrag: uploads.prepare, onFiles, onLink })
  acceptPastes({ onFiles, onLink })
  void refreshQuota()
  // Timers may have been suspended with the page.
  addEventListener('visibilitychange', () => void (isQuotaUsedUp() && refreshQuota()))
}

format.addEventListener('change', () => uploads.showFormat(formatNow()))
find('copy-all').addEventListener('click', () => void uploads.copyAll())
find('retry-all').addEventListener('click', () => {
  // The button disappears.
  find('pictures-title').focus()
  uploads.retryAll()
})
find('one-link').addEventListener('click', () => void makeGallery(uploads.pictures()))

confirmLeaving(uploads.items)
guardQuestions()
root.dataset.live = ''
if ('serviceWorker' in navigator) registerWorker('/service-worker.js')

/** Under Trusted Types, registration needs a URL created by a policy. */
function registerWorker(address: string): void {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes }
  const policy = trustedTypes?.createPolicy('pinhole-page', {
    createScriptURL(url) {
      if (url !== address) throw new TypeError('unknown script')
      return url
    },
  })
  // Only the share target needs the worker, and browsers that refuse it have no share sheet.
  navigator.serviceWorker.register(policy ? policy.createScriptURL(address) : address).catch(() => {})
}

// Chunks loaded from here on may fail (offline, or the page is closing). The rest works without them.

/** Shows the list of earlier pictures. Its code loads only if there are some. */
async function showEarlier(said?: string): Promise<void> {
  const known = await history
  if (!panel && (await known.all()).length === 0) return
  const part = await import('./history/panel.ts').catch(() => null)
  if (!part) return
  panel ??= part.createPanel({
    history: known,
    format: formatNow,
    isShown: (id) => uploads.pictures().some((picture) => picture.id === id),
    onEdit: (picture) => void uploads.editUploaded(picture),
    onChange: update,
  })
  await panel.refresh(said)
}

async function syncHistory(): Promise<void> {
  await uploads.removeForgotten()
  await showEarlier()
}

async function openDevice(): Promise<void> {
  const part = await import('./history/device.ts').catch(() => null)
  if (!part) return device.addEventListener('toggle', openDevice, { once: true })
  part.initDevice({ history: await history, onImported: showEarlier, onForgotten: syncHistory })
  root.dataset.device = ''
}

const device = find<HTMLDetailsElement>('device')
// It may have been opened before this script ran.
if (device.open) void openDevice()
else device.addEventListener('toggle', openDevice, { once: true })
;(await history).onForeignChange(() => void syncHistory())
// A page in the back/forward cache hears nothing of other tabs.
addEventListener('pageshow', ({ persisted }) => void (persisted && syncHistory()))
await showEarlier()
root.dataset.listed = ''

if ('caches' in globalThis) {
  const isShared = location.search.startsWith(SHARED_QUERY)
  const omitted = Number(location.search.split('=')[1]) || 0
  if (isShared) window.history.replaceState(null, '', '/')
  if (form && (isShared || (await caches.has('kept-files').catch(() => false)))) {
    const part = await import('./intake/offer.ts').catch(() => null)
    await part?.offerKept({ isShared, omitted, onFiles: addFiles, onChange: update })
  }
}
