/** The page at `/`, alive. */
import type { Mode } from '../../client/types.ts'
import type { EmbedCodes } from '../pages/embed-codes.ts'
import { SHARED_QUERY } from '../share-path.ts'
import { enliveDevice } from './history/device.ts'
import { openHistory } from './history/history.ts'
import { rememberMode, rememberSwitch } from './history/preferences.ts'
import { createRememberedList, type RememberedList } from './history/remembered-list.ts'
import { takeDrops } from './intake/drop.ts'
import { takePastes } from './intake/paste.ts'
import { copyText } from './page/clipboard.ts'
import { inWords, words } from './page/facts.ts'
import { registerWorker } from './page/register-worker.ts'
import { say } from './page/status.ts'
import { askQuota } from './upload/quota.ts'
import { askBeforeLeaving, showTotals } from './upload/totals.ts'
import { codesOfAll, createUploadList } from './upload/upload-list.ts'

const find = <E extends HTMLElement>(id: string) => document.getElementById(id) as E
const format = find<HTMLSelectElement>('format')
const copyAll = find('copy-all')
const history = openHistory()
let remembered: RememberedList | undefined

const uploads = createUploadList({
  history,
  mode: rememberMode([...document.querySelectorAll<HTMLInputElement>('input[name="mode"]')]) as () => Mode,
  remembers: rememberSwitch(find('remember')),
  format: () => format.value as keyof EmbedCodes,
  onChange: settle,
})

function settle(): void {
  const isEmpty = uploads.items.length === 0 && !remembered?.size
  find('pictures').hidden = isEmpty
  document.documentElement.toggleAttribute('data-busy', uploads.items.length > 0)
  copyAll.hidden = uploads.pictures().length < 2
  showTotals(uploads.items)
}

function take(files: File[]): void {
  if (files.length === 0) say(words.nothing)
  else void uploads.add(files)
}

const form = document.getElementById('upload')
if (form) {
  const input = find<HTMLInputElement>('file')
  input.multiple = true
  input.addEventListener('change', () => {
    take([...input.files!])
    input.value = ''
  })
  form.addEventListener('submit', (event) => event.preventDefault())
  takeDrops({ onFiles: take, onAddressOnly: () => say(words.foreign) })
  takePastes(take)
  void askQuota()
}

format.addEventListener('change', () => {
  uploads.showFormat(format.value as keyof EmbedCodes)
  remembered?.showFormat(format.value as keyof EmbedCodes)
})
copyAll.addEventListener('click', async () => {
  const pictures = uploads.pictures()
  await copyText(codesOfAll(pictures, format.value as keyof EmbedCodes))
  say(inWords.count(words.copiedAll, pictures.length))
})

askBeforeLeaving(uploads.items)
document.documentElement.dataset.live = ''
registerWorker()

const opened = await history
remembered = createRememberedList({
  history: opened,
  format: () => format.value as keyof EmbedCodes,
  isShown: (id) => uploads.pictures().some((picture) => picture.id === id),
  onChange: settle,
})
enliveDevice({ history: opened, onChange: () => remembered!.refresh() })
await remembered.refresh()

if (location.search === SHARED_QUERY && 'caches' in globalThis) {
  window.history.replaceState(null, '', '/')
  const { takeShared } = await import('./intake/shared-files.ts')
  take(await takeShared())
}
