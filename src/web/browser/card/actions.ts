/** Expiry text and actions for an uploaded picture. */
import { DELETE_PATH } from '../../../protocol.ts'
import type { History, HistoryEntry } from '../history/history.ts'
import { copyAndSay } from '../page/clipboard.ts'
import { say } from '../page/status.ts'
import { facts, inWords, locale, words } from '../upload/facts.ts'
import { reasonOf } from '../upload/reasons.ts'
import { codesOf } from './codes.ts'
import type { MenuAction } from './menu.ts'

/** The share action, where the device has a share sheet. */
export const SHARE: 'share'[] = 'share' in navigator ? ['share'] : []

/** "Available until …", or undefined when the picture doesn't expire. */
export function staysUntil({ expires }: HistoryEntry): string | undefined {
  if (!expires) return undefined
  const at = new Date(expires)
  const year = at.getFullYear() === new Date().getFullYear() ? undefined : 'numeric'
  const parts = { year, month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' } as const
  return inWords.fill(words.staysUntil, { time: at.toLocaleString(locale, parts) })
}

/** Runs any menu action except deletion, which needs confirmation first. */
export async function runAction(action: MenuAction, picture: HistoryEntry, history: History): Promise<void> {
  const { page } = codesOf(picture)
  if (action === 'share') await navigator.share({ url: page }).catch(() => {})
  if (action === 'qr') {
    const part = await import('./qr.ts').catch(() => null)
    if (!part) return say(words.unreachable)
    part.showQr(page)
  }
  if (action === 'describe') {
    const part = await import('./describe.ts').catch(() => null)
    if (!part) return say(words.unreachable)
    await part.describe(picture, history)
  }
  if (action === 'delete-link')
    await copyAndSay(`${facts.baseUrl}${DELETE_PATH}?key=${picture.key}`, { said: words.copiedDeleteLink })
}

/** Deletes the picture and announces the outcome. Resolves with the reason for a failure, or `null` on success. */
export async function deleteAndSay(picture: HistoryEntry, history: History): Promise<string | null> {
  try {
    const { deletePicture } = await import('../history/delete-picture.ts')
    await deletePicture(picture, history)
  } catch (error) {
    const problem = inWords.fill(words.deleteFailed, { reason: await reasonOf(error) })
    say(problem)
    return problem
  }
  say(inWords.fill(words.deletedNow, { name: picture.name }))
  return null
}
