/** What stands after the `#` of a gallery's link: `<id>,<id>=<description>,…`. No server ever sees it. */

export interface Linked {
  id: string
  /** For people who can't see it. Empty if nobody wrote one. */
  alt: string
}

/** More than any list that people make by hand. */
const MOST = 500

/** For one picture. Unit: characters. */
export const MAX_DESCRIPTION = 500

/** Chats escape the commas of an address, and so are those of a description: what follows tells them apart. */
const BEFORE_ID = /(?:[,+]|%2C)(?=[0-9A-Za-z]{11}(?![0-9A-Za-z]))/i

export function hashOf(pictures: readonly { id: string; alt?: string | undefined }[]): string {
  const entries = pictures.map(({ id, alt }) => {
    // A comma and a space: no word of a description is taken for an id.
    return alt ? `${id}=${encodeURIComponent(alt.toWellFormed().replace(/,(?=\S)/g, ', '))}` : id
  })
  return `#${entries.join(',')}`
}

/** In order, each once. Anybody may have made the link: what is no id is left out. */
export function linkedIn(hash: string): Linked[] {
  const found = new Map<string, Linked>()
  for (const part of hash.slice(1).split(BEFORE_ID)) {
    const [, id, alt = ''] = /^([0-9A-Za-z]{11})(?![0-9A-Za-z])(?:=([^,]*))?/.exec(part) ?? []
    if (id && !found.has(id) && found.size < MOST) found.set(id, { id, alt: decoded(alt) })
  }
  return [...found.values()]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text).slice(0, MAX_DESCRIPTION)
  } catch {
    return ''
  }
}
