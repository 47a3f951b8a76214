/** The gallery of several pictures, and the display name of one. */
import type { HistoryEntry } from '../history/history.ts'
import { say } from '../page/status.ts'
import { inWords, locale, words } from '../upload/facts.ts'

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
