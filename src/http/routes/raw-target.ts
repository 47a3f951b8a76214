/** Addresses of an image's bytes: `/raw/<id>`, with its extension or without. */

const TARGET = /^\/raw\/([0-9A-Za-z]{11})(?:\.(jpg|png|gif|webp|avif))?(\?.*)?$/s

export interface Target {
  id: string
  extension: string | undefined
  query: string
}

/** `null` if it is none. */
export function parseTarget(target: string): Target | null {
  const match = TARGET.exec(target)
  return match === null ? null : { id: match[1]!, extension: match[2], query: match[3] ?? '' }
}
