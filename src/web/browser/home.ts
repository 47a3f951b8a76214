/** The page at `/`, alive. */
import type { Lifetime, Mode } from '../../client/types.ts'
import type { TrustedTypes } from '../../client/worker/browser-host.ts'
import type { EmbedCodes } from '../pages/embed-codes.ts'
import { SHARED_QUERY } from '../share-path.ts'
import { makeGallery } from './card/picture.ts'
import { openHistory, type Remembered } from './history/history.ts'
import type { Panel } from './history/panel.ts'
import { rememberChoice, rememberMode, rememberSwitch } from './history/preferences.ts'
import { takeDrops, takePastes } from './intake/drop.ts'
import { guardQuestions } from './page/questions.ts'
import { say } from './page/status.ts'
import { facts, words } from './upload/facts.ts'
import { askBeforeLeaving, askQuota, isFull, quotaUsedUp, showTotals } from './upload/progress.ts'
import type { Item } from './upload/queue.ts'
import { createUploadList } from './upload/upload-list.ts'

const find = <E extends HTMLElement>(id: string) => document.getElementById(id) as E
const root = document.documentElement
const format = find<HTMLSelectElement>('format')
const options = find<HTMLDetailsElement>('options') as HTMLDetailsElement | null
const history = openHistory()
let panel: Panel | undefined

const editsFirst = rememberSwitch(find('edit-first'))
const copiesItself = rememberSwitch(find('auto-copy'))
const formatNow = () => format.value as keyof EmbedCodes

const uploads = createUploadList({
  history,
  mode: rememberMode([...document.querySelectorAll<HTMLInputElement>('input[name="mode"]')]) as () => Mode,
  expires: rememberChoice(find<HTMLSelectElement>('expires')) as () => Lifetime | '',
  remembers: rememberSwitch(find('remember')),
  format: formatNow,
  edit: editOne,
  onChange: settle,
})

function settle(): void {
  const hasItems = uploads.items.length > 0
  // Pictures on their way, or an offer of some: what is needed for more of them takes one row.
  const isBusy = hasItems || !find('offer').hidden
  if (options && isBusy !== root.hasAttribute('data-busy')) {
    const hadFocus = options.contains(document.activeElement)
    options.open = !isBusy
    // Nothing that is out of sight keeps the focus.
    if (hadFocus && isBusy) options.querySelector('summary')!.focus()
  }
  root.toggleAttribute('data-busy', isBusy)
  find('pictures').hidden = !hasItems && !panel?.size
  find('pictures-head').hidden = !hasItems
  const several = uploads.pictures().length > 1
  find('copy-all').hidden = find('one-link').hidden = !several
  const isWorthIt = ({ state }: Item) => state.at === 'failed' && state.outlook !== 'hopeless'
  find('retry-all').hidden = uploads.items.filter(isWorthIt).length < 2
  showTotals(uploads.items)
}

/** The last that needs, or may need, the editor. */
let last: Promise<unknown> = Promise.resolve()

/** There is one editor, and it has the whole page: what comes while it is open waits until it is left. */
function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const done = last.then(work)
  last = done.catch(() => {})
  return done
}

/** Resolves with whether any of them is on the list now. */
function take(files: File[], copies = false): Promise<boolean> {
  return inTurn(async () => {
    if (files.length === 0 || isFull()) {
      say(files.length === 0 ? words.nothing : quotaUsedUp())
      return false
    }
    const chosen = editsFirst() ? await edited(files) : files
    if (chosen.length > 0) await uploads.add(chosen, { copies: copies && copiesItself() })
    return chosen.length > 0
  })
}

/** None, if the editor can't be had: nothing is sent that somebody wanted to change first. */
async function edited(files: File[]): Promise<File[]> {
  const editor = await loadEditor()
  return editor ? editor.edit(files) : []
}

/** A picture that has its card or row already. */
function editOne(source: File | Remembered): Promise<File | null> {
  return inTurn(async () => {
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
  // Apple's pickers hand over a JPEG as long as HEIC is not asked for.
  if (facts.convertsHeic && !/^Apple/.test(navigator.vendor)) input.accept += ',.heic,.heif,.hif,.jxl'
  input.addEventListener('change', () => {
    void take([...input.files!], true)
    input.value = ''
  })
  input.addEventListener('click', uploads.prepare)
  form.addEventListener('submit', (event) => event.preventDefault())
  const onAddressOnly = () => say(words.foreign)
  const onFiles = (files: File[]) => void take(files, true)
  takeDrops({ onDrag: uploads.prepare, onFiles, onAddressOnly })
  takePastes({ onFiles, onAddressOnly })
  void askQuota()
  // A timer may have slept with the page.
  addEventListener('visibilitychange', () => void (isFull() && askQuota()))
}

format.addEventListener('change', () => uploads.showFormat(formatNow()))
find('copy-all').addEventListener('click', () => void uploads.copyAll())
find('retry-all').addEventListener('click', uploads.retryAll)
find('one-link').addEventListener('click', () => void makeGallery(uploads.pictures()))

askBeforeLeaving(uploads.items)
guardQuestions()
root.dataset.live = ''
if ('serviceWorker' in navigator) registerWorker('/service-worker.js')

/** Under Trusted Types it starts only from an address that a policy vouches for. */
function registerWorker(address: string): void {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes }
  const policy = trustedTypes?.createPolicy('pinhole-page', {
    createScriptURL(url) {
      if (url !== address) throw new TypeError('only our own service worker')
      return url
    },
  })
  // A browser that refuses has no share sheet either: nothing is lost.
  navigator.serviceWorker.register(policy ? policy.createScriptURL(address) : address).catch(() => {})
}

// Parts that come later may not come: offline, or the page is left meanwhile. What is there works without them.

/** Rows of earlier visits: fetched when there are some. */
async function showEarlier(): Promise<void> {
  const known = await history
  if (!panel && (await known.all()).length === 0) return
  const part = await import('./history/panel.ts').catch(() => null)
  if (!part) return
  panel ??= part.createPanel({
    history: known,
    format: formatNow,
    isShown: (id) => uploads.pictures().some((picture) => picture.id === id),
    onEdit: (picture) => void uploads.editUploaded(picture),
    onChange: settle,
  })
  await panel.refresh()
}

async function follow(): Promise<void> {
  await uploads.dropForgotten()
  await showEarlier()
}

async function openDevice(): Promise<void> {
  const part = await import('./history/device.ts').catch(() => null)
  if (!part) return device.addEventListener('toggle', openDevice, { once: true })
  part.enliveDevice({ history: await history, onImported: showEarlier, onForgotten: follow })
  root.dataset.device = ''
}

const device = find<HTMLDetailsElement>('device')
// Somebody may have opened it before this script came.
if (device.open) void openDevice()
else device.addEventListener('toggle', openDevice, { once: true })
;(await history).onForeignChange(() => void follow())
await showEarlier()

if ('caches' in globalThis) {
  const isShared = location.search.startsWith(SHARED_QUERY)
  const left = Number(location.search.split('=')[1]) || 0
  if (isShared) window.history.replaceState(null, '', '/')
  if (form && (isShared || (await caches.has('kept-files').catch(() => false)))) {
    const part = await import('./intake/offer.ts').catch(() => null)
    await part?.offerKept({ isShared, left, onFiles: take, onChange: settle })
  }
}
