/** The texts under which an image is passed on. Runs in the server and in the page. */
import { EXTENSIONS, type ImageType, rawPath, viewPath } from '../../protocol.ts'

export interface Embedded {
  id: string
  type: ImageType
  /** Unit: pixels. */
  width?: number
  /** Unit: pixels. */
  height?: number
  /** In words, for people who can't see it. */
  alt?: string | undefined
}

export interface EmbedCodes {
  page: string
  direct: string
  markdown: string
  bbcode: string
  html: string
}

/** Characters that end or break an HTML attribute. */
const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** No part of an address or a type needs escaping: ids and extensions are letters and digits. */
export function embedCodes(baseUrl: string, { id, type, width, height, alt = '' }: Embedded): EmbedCodes {
  const page = baseUrl + viewPath(id)
  const direct = `${baseUrl}${rawPath(id)}.${EXTENSIONS[type]}`
  const size = width && height ? ` width="${width}" height="${height}"` : ''
  return {
    page,
    direct,
    markdown: `![${alt.replace(/[\\[\]`*_<>!&]/g, '\\$&')}](${direct})`,
    bbcode: `[img${alt && ` alt="${alt.replace(/[[\]"]/g, '')}"`}]${direct}[/img]`,
    html: `<a href="${page}"><img src="${direct}"${size} alt="${alt.replace(/[&<>"]/g, (character) => ESCAPES[character]!)}"></a>`,
  }
}
