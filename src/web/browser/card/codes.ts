/** Links and embed codes of uploaded pictures. */
import { type EmbedCodes, embedCodes } from '../../pages/embed-codes.ts'
import type { HistoryEntry } from '../history/history.ts'
import { facts } from '../upload/facts.ts'

export function codesOf(picture: HistoryEntry): EmbedCodes {
  return embedCodes(facts.baseUrl, picture)
}

export function codesOfAll(pictures: HistoryEntry[], format: keyof EmbedCodes): string {
  return pictures.map((picture) => codesOf(picture)[format]).join('\n')
}
