/** Links and display name of a picture. */
import { type EmbedCodes, embedCodes } from '../../pages/embed-codes.ts'
import type { HistoryEntry } from '../history/history.ts'
import { say } from '../page/status.ts'
import { facts, inWords, locale, words } from '../upload/facts.ts'

export function codesOf(picture: HistoryEntry): EmbedCodes {
  return embedCodes(facts.baseUrl, picture)
}

export function codesOfAll(pictures: HistoryEntry[], format: keyof EmbedCodes): string {
  return pictures.map((picture) => codesOf(picture)[format]).join('\n')
}

/** Creates one link to all the pictures and shows it on its own card. */
export async function makeGallery(pictures: HistoryEntry[]): Promise<void> {
  const part = await import('./gallery-card.ts').catch(() => null)
  if (!part) return say(words.unreachable)
  await part.showGallery(pictures)
}

/** Generic names that phones and clipboards give to every picture. */
const GENERIC_NAME = /^(image|unnamed|blob)?(\.\w+)?$/i

/** The file's name, or the time when the name is generic. */
export function nameOf(file: File): string {
  if (!GENERIC_NAME.test(file.name)) return file.name
  const time = new Date().toLocaleTimeString(locale, { timeStyle: 'medium' })
  return inWords.fill(words.pictureAt, { time })
}
