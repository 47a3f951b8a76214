/** The fragment of a gallery link: `<id>,<id>=<description>,…`. Browsers never send it to a server. */

export interface LinkedPicture {
  id: string
  /** Alt text. Empty if there is none. */
  alt: string
}

/** Maximum number of pictures. */
const MAX_PICTURES = 500

/** Per picture. Unit: characters. */
export const MAX_DESCRIPTION = 500

/** Separator before an ID. Chats escape commas, and descriptions contain escaped ones, so the ID after it decides. */
const BEFORE_ID = /(?:[,+]|%2C)(?=[0-9A-Za-z]{11}(?![0-9A-Za-z]))/i

export function hashOf(pictures: readonly { id: string; alt?: string | undefined }[]): string {
  const entries = pictures.map(({ id, alt }) => {
    // A space after each comma, so that no word of a description is parsed as an ID.
    return alt ? `${id}=${encodeURIComponent(alt.toWellFormed().replace(/,(?=\S)/g, ', '))}` : id
  })
  return `#${entries.join(',')}`
}

/** Pictures in order, without duplicates. Links are untrusted: invalid IDs are skipped. */
export function parseHash(hash: string): LinkedPicture[] {
  const found = new Map<string, LinkedPicture>()
  for (const part of hash.slice(1).split(BEFORE_ID)) {
    const [, id, alt = ''] = /^([0-9A-Za-z]{11})(?![0-9A-Za-z])(?:=([^,]*))?/.exec(part) ?? []
    if (id && !found.has(id) && found.size < MAX_PICTURES) found.set(id, { id, alt: decodeDescription(alt) })
  }
  return [...found.values()]
}

function decodeDescription(text: string): string {
  try {
    return decodeURIComponent(text).slice(0, MAX_DESCRIPTION)
  } catch {
    return ''
  }
}
