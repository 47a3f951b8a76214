/** A picture that is on the service: its links, and its name. */
import { type EmbedCodes, embedCodes } from '../../pages/embed-codes.ts'
import type { Remembered } from '../history/history.ts'
import { say } from '../page/status.ts'
import { facts, inWords, locale, words } from '../upload/facts.ts'

export function codesOf(picture: Remembered): EmbedCodes {
  return embedCodes(facts.baseUrl, picture)
}

export function codesOfAll(pictures: Remembered[], format: keyof EmbedCodes): string {
  return pictures.map((picture) => codesOf(picture)[format]).join('\n')
}

/** One link to all of them, on a card of its own. */
export async function makeGallery(pictures: Remembered[]): Promise<void> {
  const part = await import('./gallery-card.ts').catch(() => null)
  if (!part) return say(words.unreachable)
  await part.showGallery(pictures)
}

/** Names that phones and clipboards give to every picture. */
const NO_NAME = /^(image|unnamed|blob)?(\.\w+)?$/i

/** What a person tells it from others by: its name, or when it came. */
export function nameOf(file: File): string {
  if (!NO_NAME.test(file.name)) return file.name
  const time = new Intl.DateTimeFormat(locale, { timeStyle: 'medium' }).format(new Date())
  return inWords.fill(words.pictureAt, { time })
}
