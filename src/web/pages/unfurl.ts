/** What chats and forums read of a page to show the picture beside its link: all of it within the first 8 kB. */
import { html } from 'hono/html'
import { type ImageType, OEMBED_PATH, previewPath, typeName } from '../../protocol.ts'
import type { ImageRecord } from '../../stores/object-store.ts'
import { byteSize, numberFormat } from '../messages/wording.ts'
import { X_BYTES } from '../preview-limits.ts'
import type { Resized } from '../resizer.ts'
import { embedCodes } from './embed-codes.ts'
import type { Page, PageContext } from './page.ts'

/** `title` and `alt`: in words. */
export function unfurlTags(
  ctx: PageContext,
  record: ImageRecord,
  { title, alt }: { title: string; alt: string },
): Page {
  const { lang } = ctx.messages
  const { type, width, height, size } = record
  const { page } = embedCodes(ctx.baseUrl, record)
  const shown = shownIn(ctx, record)
  const number = numberFormat(lang).format
  const description = `${typeName(type)}, ${number(width)} × ${number(height)}, ${byteSize(lang, size)}`
  // X shows no AVIF, and a large card without its picture is a hole.
  const isShownLarge = shown.type !== 'image/avif' && shown.size <= X_BYTES
  const oembed = `${ctx.baseUrl}${OEMBED_PATH}?url=${encodeURIComponent(page)}`
  return html`<meta property="og:type" content="website">
<meta property="og:site_name" content="Pinhole">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
<meta property="og:url" content="${page}">
<meta property="og:image" content="${shown.address}">
${shown.type === null ? '' : html`<meta property="og:image:type" content="${shown.type}">`}
<meta property="og:image:width" content="${shown.width}">
<meta property="og:image:height" content="${shown.height}">
<meta property="og:image:alt" content="${alt}">
<meta name="twitter:card" content="${isShownLarge ? 'summary_large_image' : 'summary'}">
<meta name="twitter:title" content="${title}">
<meta name="twitter:description" content="${description}">
<meta name="twitter:image" content="${shown.address}">
<meta name="twitter:image:alt" content="${alt}">
<link rel="alternate" type="application/json+oembed" href="${oembed}" title="${title}">`
}

interface Shown extends Resized {
  /** `null`: a resizer chooses it. */
  type: ImageType | null
  /** Unit: bytes. */
  size: number
}

/** The picture of a link preview: the small one where there is one, because chats ignore pictures of more than some hundred kB. */
function shownIn({ baseUrl, resizer }: PageContext, record: ImageRecord): Shown {
  const { id, preview } = record
  const resized = resizer?.resized(record) ?? null
  if (resized !== null) return { ...resized, type: null, size: 0 }
  if (preview !== undefined) return { ...preview, address: baseUrl + previewPath(id) }
  return { ...record, address: embedCodes(baseUrl, record).direct }
}
