import { RATE_REMAINING_HEADER, UPLOAD_PATH } from '../../../protocol.ts'
import { inWords, words } from '../page/facts.ts'

export function showQuota(remaining: number): void {
  const note = document.getElementById('quota')
  if (note) note.textContent = inWords.count(words.left, remaining)
}

/** Every answer of the upload address says what is left, one that stores nothing too. */
export async function askQuota(): Promise<void> {
  const answer = await fetch(UPLOAD_PATH, { method: 'OPTIONS' }).catch(() => null)
  const remaining = answer?.headers.get(RATE_REMAINING_HEADER)
  if (remaining) showQuota(Number(remaining))
}
