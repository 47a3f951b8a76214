/** The state and the actions of an uploaded picture. */
import { DELETE_PATH } from '../../../protocol.ts'
import type { History, Remembered } from '../history/history.ts'
import { copyAndSay } from '../page/clipboard.ts'
import { say } from '../page/status.ts'
import { facts, inWords, locale, words } from '../upload/facts.ts'
import { reasonOf } from '../upload/reasons.ts'
import type { MenuAction } from './menu.ts'
import { codesOf } from './picture.ts'

/** When it goes by itself, in a sentence. */
export function staysUntil({ expires }: Remembered): string | undefined {
  if (!expires) return undefined
  const at = new Date(expires)
  const year = at.getFullYear() === new Date().getFullYear() ? undefined : 'numeric'
  const parts = { year, month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' } as const
  return inWords.fill(words.staysUntil, { time: new Intl.DateTimeFormat(locale, parts).format(at) })
}

/** All but deletion, which asks first. */
export async function act(action: MenuAction, picture: Remembered, history: History): Promise<void> {
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
  if (action === 'delete-link') await copyAndSay(`${facts.baseUrl}${DELETE_PATH}?key=${picture.key}`)
}

/** Deletes, and says how it went. Resolves with why it failed, or with `null` when it is gone. */
export async function deleteAndSay(picture: Remembered, history: History): Promise<string | null> {
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
