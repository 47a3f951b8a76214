import type { Entry } from './history.ts'

/** Whether a word on the command line means this upload: its link, direct link, key, delete address or id. */
export function isNamedBy(entry: Entry, word: string): boolean {
  return [entry.link, entry.key, entry.delete, entry.id].includes(word) || viewOf(word) === entry.link
}

/** The page's link for a direct link. */
function viewOf(word: string): string {
  return word.replace(/\/raw\/([0-9A-Za-z]+)(?:\.[a-z]+)?(?:\?.*)?$/, '/$1')
}
