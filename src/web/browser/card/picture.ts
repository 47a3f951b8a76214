/** A picture that is on the service: its links, its name, and what can be done with it. */
import { DELETE_PATH } from '../../../protocol.ts'
import { type EmbedCodes, embedCodes } from '../../pages/embed-codes.ts'
import type { History, Remembered } from '../history/history.ts'
import { copyAndSay } from '../page/clipboard.ts'
import { say } from '../page/status.ts'
import { facts, inWords, locale, words } from '../upload/facts.ts'
import type { MenuAction } from './menu.ts'

export function codesOf(picture: Remembered): EmbedCodes {
  return embedCodes(facts.baseUrl, picture)
}

export function codesOfAll(pictures: Remembered[], format: keyof EmbedCodes): string {
  return pictures.map((picture) => codesOf(picture)[format]).join('\n')
}

/** One link to all of them. The ids stand after the `#`, which no server ever sees. */
export function galleryLink(pictures: Remembered[]): string {
  return `${facts.baseUrl}/g#${pictures.map(({ id }) => id).join(',')}`
}

export function copyGalleryLink(pictures: Remembered[]): Promise<void> {
  return copyAndSay(galleryLink(pictures), { said: inWords.count(words.galleryCopied, pictures.length) })
}

/** All but deletion, which asks first. */
export async function act(action: MenuAction, picture: Remembered): Promise<void> {
  const { page } = codesOf(picture)
  if (action === 'share') await navigator.share({ url: page }).catch(() => {})
  if (action === 'qr') {
    const part = await import('./qr.ts').catch(() => null)
    if (!part) return say(words.unreachable)
    part.showQr(page)
  }
  if (action === 'delete-link') await copyAndSay(`${facts.baseUrl}${DELETE_PATH}?key=${picture.key}`)
}

/** Deletes, and says how it went. Resolves with why it failed, or with `null` when it is gone. */
export async function deleteAndSay(picture: Remembered, history: History): Promise<string | null> {
  try {
    const { deletePicture } = await import('../history/delete-picture.ts')
    await deletePicture(picture, history)
  } catch (error) {
    const { reasonOf } = await import('../upload/uploading.ts')
    const problem = inWords.fill(words.deleteFailed, { reason: await reasonOf(error) })
    say(problem)
    return problem
  }
  say(inWords.fill(words.deletedNow, { name: picture.name }))
  return null
}

export function canShare(): boolean {
  return 'share' in navigator
}

/** Names that phones and clipboards give to every picture. */
const NO_NAME = /^(image|unnamed|blob)?(\.\w+)?$/i

/** What a person tells it from others by: its name, or when it came. */
export function nameOf(file: File): string {
  if (!NO_NAME.test(file.name)) return file.name
  const time = new Intl.DateTimeFormat(locale, { timeStyle: 'medium' }).format(new Date())
  return inWords.fill(words.pictureAt, { time })
}
