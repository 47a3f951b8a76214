/** The "On this device" section: export, import and clear the history. */
import { forgetAllFiles } from '../intake/kept-files.ts'
import { saveFile } from '../page/save-file.ts'
import { say } from '../page/status.ts'
import { inWords, words } from '../upload/facts.ts'
import type { History } from './history.ts'
import { PREFIX, read } from './preferences.ts'

export interface DeviceOptions {
  history: History
  /** `said`: the announcement, which another one must not replace. */
  onImported(said: string): void
  onForgotten(): void
}

const FILE_NAME = 'pinhole-history.json'

export function initDevice({ history, onImported, onForgotten }: DeviceOptions): void {
  const find = <E extends HTMLElement>(id: string) => document.getElementById(id) as E
  const file = find<HTMLInputElement>('import-file')
  const question = find('forget-ask')
  if (!history.lasts) {
    find('memory-only').textContent = words.memoryOnly
    find('memory-only').hidden = false
  }

  find('export').addEventListener('click', async () => {
    const part = await import('./history-file.ts').catch(() => null)
    if (!part) return say(words.unreachable)
    const pictures = await history.all()
    saveFile(await part.writeHistory(pictures), FILE_NAME)
    say(inWords.fill(inWords.count(words.exported, pictures.length), { file: FILE_NAME }))
  })

  find('import').addEventListener('click', () => file.click())
  file.addEventListener('change', async () => {
    const [chosen] = file.files ?? []
    file.value = ''
    if (!chosen) return
    const part = await import('./history-file.ts').catch(() => null)
    if (!part) return say(words.unreachable)
    const pictures = await part.readHistory(chosen).catch(() => null)
    if (pictures === null) return say(words.notImported)
    // Never overwrite existing entries: the file is untrusted and may contain wrong keys.
    const known = new Set((await history.all()).map(({ id }) => id))
    const added = pictures.filter(({ id }) => !known.has(id))
    if (!(await history.put(added))) return say(words.noRoom)
    const said = inWords.count(words.imported, added.length)
    say(said)
    onImported(said)
  })

  const close = () => {
    question.hidden = true
    find('forget').focus()
  }
  find('forget').addEventListener('click', () => {
    question.hidden = false
    find('forget-keep').focus()
  })
  find('forget-keep').addEventListener('click', close)
  question.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape') close()
  })
  find('forget-confirm').addEventListener('click', async () => {
    await history.clear()
    forgetPreferences()
    await forgetAllFiles().catch(() => {})
    close()
    say(words.forgotten)
    onForgotten()
  })
  // Disabled in the HTML, because a click before this point would be lost.
  for (const id of ['export', 'import', 'forget']) find<HTMLButtonElement>(id).disabled = false
}

/** Clears saved choices, except the choice to remember nothing. */
function forgetPreferences(): void {
  const isOptOut = (name: string) => name === `${PREFIX}remember` && read('remember') === 'off'
  try {
    for (const name of Object.keys(localStorage))
      if (name.startsWith(PREFIX) && !isOptOut(name)) localStorage.removeItem(name)
  } catch {
    // Without storage there is nothing to clear.
  }
}
