/** How long a picture stays on the service. */
import type { Remembered } from '../history/history.ts'
import { inWords, locale, words } from '../upload/facts.ts'

/** When it goes by itself, in a sentence. */
export function staysUntil({ expires }: Remembered): string | undefined {
  if (!expires) return undefined
  const at = new Date(expires)
  const year = at.getFullYear() === new Date().getFullYear() ? undefined : 'numeric'
  const parts = { year, month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' } as const
  return inWords.fill(words.staysUntil, { time: new Intl.DateTimeFormat(locale, parts).format(at) })
}
