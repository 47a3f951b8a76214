/** Open Graph, Twitter and oEmbed tags for link previews. They must lie within the first 8 kB of the page. */
import { html } from 'hono/html'
import { type ImageType, OEMBED_PATH, previewPath, typeName } from '../../protocol.ts'
import type { ImageRecord } from '../../stores/object-store.ts'
import { byteSize, numberFormat } from '../messages/wording.ts'
import { X_BYTES } from '../preview-limits.ts'
import type { Resized } from '../resizer.ts'
import { embedCodes } from './embed-codes.ts'
import type { Page, PageContext } from './page.ts'

/** `title` and `alt`: localized texts. */
export function unfurlTags(
  ctx: PageContext,
  record: ImageRecord,
  { title, alt }: { title: string; alt: string },
): Page {
  const { lang } = ctx.messages
  const { type, width, height, size } = record
  const { page } = embedCodes(ctx.baseUrl, record)
  const image = previewImageOf(ctx, record)
  const number = numberFormat(lang).format
  const description = `${typeName(type)}, ${number(width)} × ${number(height)}, ${byteSize(lang, size)}`
  // X doesn't show AVIF, and would render a large card with an empty space.
  const isShownLarge = image.type !== 'image/avif' && image.size <= X_BYTES
  const oembed = `${ctx.baseUrl}${OEMBED_PATH}?url=${encodeURIComponent(page)}`
  return html`<meta property="og:type" content="website">
<meta property="og:site_name" content="Pinhole">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
<meta property="og:url" content="${page}">
<meta property="og:image" content="${image.address}">
${image.type === null ? '' : html`<meta property="og:image:type" content="${image.type}">`}
<meta property="og:image:width" content="${image.width}">
<meta property="og:image:height" content="${image.height}">
<meta property="og:image:alt" content="${alt}">
<meta name="twitter:card" content="${isShownLarge ? 'summary_large_image' : 'summary'}">
<meta name="twitter:title" content="${title}">
<meta name="twitter:description" content="${description}">
<meta name="twitter:image" content="${image.address}">
<meta name="twitter:image:alt" content="${alt}">
<link rel="alternate" type="application/json+oembed" href="${oembed}" title="${title}">`
}

interface PreviewImage extends Resized {
  /** `null`: the resizer decides. */
  type: ImageType | null
  /** Unit: bytes. */
  size: number
}

/** The image for link previews. Prefers the preview, because chats ignore images above a few hundred kB. */
function previewImageOf({ baseUrl, resizer }: PageContext, record: ImageRecord): PreviewImage {
  const { id, preview } = record
  const resized = resizer?.resized(record) ?? null
  if (resized !== null) return { ...resized, type: null, size: 0 }
  if (preview !== undefined) return { ...preview, address: baseUrl + previewPath(id) }
  return { ...record, address: embedCodes(baseUrl, record).direct }
}
