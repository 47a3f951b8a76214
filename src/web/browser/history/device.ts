/** What this device remembers: keep it, move it, forget it. */
import { inWords, words } from '../page/facts.ts'
import { say } from '../page/status.ts'
import type { History } from './history.ts'

export interface DeviceOptions {
  history: History
  /** The history is another one now. */
  onChange(): void
}

export function enliveDevice({ history, onChange }: DeviceOptions): void {
  const find = <E extends HTMLElement>(id: string) => document.getElementById(id) as E
  const file = find<HTMLInputElement>('import-file')
  const ask = find('forget-ask')
  if (!history.lasts) {
    find('memory-only').textContent = words.memoryOnly
    find('memory-only').hidden = false
  }

  find('export').addEventListener('click', async () => {
    const { writeHistory } = await import('./history-file.ts')
    const address = URL.createObjectURL(await writeHistory(await history.all()))
    const link = document.createElement('a')
    link.href = address
    link.download = 'pinhole-history.json'
    link.click()
    setTimeout(() => URL.revokeObjectURL(address), 10_000)
  })

  find('import').addEventListener('click', () => file.click())
  file.addEventListener('change', async () => {
    const [chosen] = file.files ?? []
    file.value = ''
    if (!chosen) return
    const { readHistory } = await import('./history-file.ts')
    const pictures = await readHistory(chosen).catch(() => null)
    if (pictures === null) return say(words.notImported)
    await history.put(pictures)
    say(inWords.count(words.imported, pictures.length))
    onChange()
  })

  const close = () => {
    ask.hidden = true
    find('forget').focus()
  }
  find('forget').addEventListener('click', () => {
    ask.hidden = false
    find('forget-keep').focus()
  })
  find('forget-keep').addEventListener('click', close)
  find('forget-confirm').addEventListener('click', async () => {
    await history.clear()
    close()
    say(words.forgotten)
    onChange()
  })
}
