/** Overall progress: totals, tab title, daily quota, and the prompt before leaving. */
import { RATE_FIELD, RATE_REMAINING_HEADER, UPLOAD_PATH } from '../../../protocol.ts'
import { failureSummary } from './batch.ts'
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
    failureSummary(failures),
  ]
  document.getElementById('totals')!.textContent = parts.filter(Boolean).join(' · ')
  document.title = items.some(isUnfinished) ? `${done.length}/${items.length} · ${title}` : title
}

export function confirmLeaving(items: readonly Item[]): void {
  addEventListener('beforeunload', (event) => {
    if (items.some(isUnfinished)) event.preventDefault()
  })
}

/** The remaining quota is shown below this number. */
const QUOTA_NOTE_THRESHOLD = 20

/** Shows the remaining uploads of today. At zero, the page offers no further uploads. */
export function showQuota(remaining: number): void {
  const note = document.getElementById('quota')
  if (!note) return
  note.hidden = remaining >= QUOTA_NOTE_THRESHOLD
  note.textContent = remaining > 0 ? inWords.count(words.left, remaining) : quotaMessage()
  document.documentElement.toggleAttribute('data-full', remaining === 0)
}

export function isQuotaUsedUp(): boolean {
  return 'full' in document.documentElement.dataset
}

/** Message with the local time when the quota resets: midnight UTC, or in `seconds`. */
export function quotaMessage(seconds?: number): string {
  const now = Date.now()
  const at = seconds === undefined ? new Date(now).setUTCHours(24, 0, 0, 0) : now + seconds * 1000
  const time = new Intl.DateTimeFormat(locale, { timeStyle: 'short' }).format(at)
  return inWords.fill(words.quotaReset, { time })
}

let refreshTimer: ReturnType<typeof setTimeout> | undefined

/** Reads the remaining quota from an OPTIONS request. When it is used up, refreshes again at the reset. */
export async function refreshQuota(): Promise<void> {
  const { headers } = (await fetch(UPLOAD_PATH, { method: 'OPTIONS' }).catch(() => null)) ?? {}
  const remaining = headers?.get(RATE_REMAINING_HEADER)
  if (!remaining) return
  showQuota(Number(remaining))
  clearTimeout(refreshTimer)
  const seconds = /;t=(\d+)/.exec(headers?.get(RATE_FIELD) ?? '')?.[1]
  if (isQuotaUsedUp() && seconds) refreshTimer = setTimeout(refreshQuota, 1000 * (Number(seconds) + 1))
}
