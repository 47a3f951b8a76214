/** How far everything is, in one line, in the tab's title, and as a question before leaving. */
import { inWords, words } from '../page/facts.ts'
import { type Item, isUnfinished } from './queue.ts'

const title = document.title

export function showTotals(items: readonly Item[]): void {
  const done = items.filter(({ state }) => state.at === 'done')
  const failed = items.filter(({ state }) => state.at === 'failed').length
  const saved = done.reduce((sum, { compressed }) => sum + compressed!.bytesIn - compressed!.bytesOut, 0)
  const parts = [
    items.length > 1 && inWords.fill(words.progress, { done: done.length, all: items.length }),
    items.length > 1 && saved >= 1024 && inWords.fill(words.saved, { size: inWords.bytes(saved) }),
    failed > 0 && inWords.count(words.failures, failed),
  ]
  document.getElementById('totals')!.textContent = parts.filter(Boolean).join(' · ')
  document.title = items.some(isUnfinished) ? `${done.length}/${items.length} · ${title}` : title
}

export function askBeforeLeaving(items: readonly Item[]): void {
  addEventListener('beforeunload', (event) => {
    if (!items.some(isUnfinished)) return
    event.preventDefault()
    // Chromium before 119 asks only if this is set.
    event.returnValue = true
  })
}
