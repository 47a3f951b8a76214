/** The texts under which an image is passed on. Runs in the server and in the page. */
import { EXTENSIONS, type ImageType, rawPath, viewPath } from '../../protocol.ts'

export interface Embedded {
  id: string
  type: ImageType
  /** Unit: pixels. */
  width?: number
  /** Unit: pixels. */
  height?: number
}

export interface EmbedCodes {
  page: string
  direct: string
  markdown: string
  bbcode: string
  html: string
}

/** No part of an address or a type needs escaping: ids and extensions are letters and digits. */
export function embedCodes(baseUrl: string, { id, type, width, height }: Embedded): EmbedCodes {
  const page = baseUrl + viewPath(id)
  const direct = `${baseUrl}${rawPath(id)}.${EXTENSIONS[type]}`
  const size = width && height ? ` width="${width}" height="${height}"` : ''
  return {
    page,
    direct,
    markdown: `![](${direct})`,
    bbcode: `[img]${direct}[/img]`,
    html: `<a href="${page}"><img src="${direct}"${size} alt=""></a>`,
  }
}
