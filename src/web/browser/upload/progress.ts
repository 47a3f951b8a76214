/** How far everything is: in one line, in the tab's title, in the day's quota, and as a question before leaving. */
import { RATE_FIELD, RATE_REMAINING_HEADER, UPLOAD_PATH } from '../../../protocol.ts'
import { unsentInWords } from './batch.ts'
import { inWords, locale, words } from './facts.ts'
import { type Item, isUnfinished } from './queue.ts'

const title = document.title

export function showTotals(items: readonly Item[]): void {
  const done = items.filter(({ state }) => state.at === 'done')
  const failures = items.flatMap(({ state }) => (state.at === 'failed' ? state : []))
  const saved = done.reduce((sum, { compressed }) => sum + compressed!.bytesIn - compressed!.bytesOut, 0)
  const parts = [
    items.length > 1 && inWords.fill(words.progress, { done: done.length, all: items.length }),
    items.length > 1 && saved >= 1000 && inWords.fill(words.saved, { size: inWords.bytes(saved) }),
    unsentInWords(failures),
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

/** From here on it is worth a word. */
const FEW = 20

/** What is left of the day's uploads. At none, no further upload is offered. */
export function showQuota(remaining: number): void {
  const note = document.getElementById('quota')
  if (!note) return
  note.hidden = remaining >= FEW
  note.textContent = remaining > 0 ? inWords.count(words.left, remaining) : quotaUsedUp()
  document.documentElement.toggleAttribute('data-full', remaining === 0)
}

export function isFull(): boolean {
  return 'full' in document.documentElement.dataset
}

/** When the count starts again, on the person's own clock: at midnight UTC, unless the server said otherwise. */
export function quotaUsedUp(seconds?: number): string {
  const now = Date.now()
  const at = seconds === undefined ? new Date(now).setUTCHours(24, 0, 0, 0) : now + seconds * 1000
  const time = new Intl.DateTimeFormat(locale, { timeStyle: 'short' }).format(at)
  return inWords.fill(words.quotaReset, { time })
}

let askingAgain: ReturnType<typeof setTimeout> | undefined

/** Every answer of the upload address says what is left, one that stores nothing too. Where nothing is, asks again then. */
export async function askQuota(): Promise<void> {
  const { headers } = (await fetch(UPLOAD_PATH, { method: 'OPTIONS' }).catch(() => null)) ?? {}
  const remaining = headers?.get(RATE_REMAINING_HEADER)
  if (!remaining) return
  showQuota(Number(remaining))
  clearTimeout(askingAgain)
  const seconds = /;t=(\d+)/.exec(headers?.get(RATE_FIELD) ?? '')?.[1]
  if (isFull() && seconds) askingAgain = setTimeout(askQuota, 1000 * (Number(seconds) + 1))
}
