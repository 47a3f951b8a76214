/** Links and embed codes of an image. Runs on the server and in the browser. */
import { EXTENSIONS, type ImageType, rawPath, viewPath } from '../../protocol.ts'

export interface Embedded {
  id: string
  type: ImageType
  /** Unit: pixels. */
  width?: number
  /** Unit: pixels. */
  height?: number
  /** Alt text. */
  alt?: string | undefined
}

export interface EmbedCodes {
  page: string
  direct: string
  markdown: string
  bbcode: string
  html: string
}

/** Escapes for HTML attributes. */
const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** URLs need no escaping, because IDs and extensions are alphanumeric. */
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
