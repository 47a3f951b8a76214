/** Content negotiation (RFC 9110, 12.5). */
import { parseAccept } from 'hono/utils/accept'

export type ResponseFormat = 'json' | 'html' | 'text'

/**
 * JSON by default. HTML when the client lists `text/html` and prefers it, as browsers do. Plain text when the client lists
 * it and does not accept JSON.
 */
export function formatFor(accept: string | undefined): ResponseFormat {
  if (!accept) return 'json'
  const ranges = parseAccept(accept)
  const quality = (...names: string[]) => {
    for (const name of names) {
      const range = ranges.find(({ type }) => type.toLowerCase() === name)
      if (range !== undefined) return range.q
    }
    return 0
  }
  const json = quality('application/json', 'application/problem+json', 'application/*', '*/*')
  const html = quality('text/html')
  const text = quality('text/plain', 'text/*')
  if (html > 0 && html >= text && html > json) return 'html'
  if (text > 0 && json === 0) return 'text'
  return 'json'
}

/** True if the client accepts the content coding, e.g. `gzip` (RFC 9110, 12.5.3). */
export function acceptsCoding(acceptEncoding: string | undefined, coding: string): boolean {
  if (!acceptEncoding) return false
  const codings = parseAccept(acceptEncoding)
  const found =
    codings.find(({ type }) => type.toLowerCase() === coding) ?? codings.find(({ type }) => type === '*')
  return found !== undefined && found.q > 0
}

export function prefersHtml(accept: string | undefined): boolean {
  return formatFor(accept) === 'html'
}
