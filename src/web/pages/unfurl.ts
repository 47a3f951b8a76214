/** What chats and forums read of a page to show the picture beside its link: all of it within the first 8 KB. */
import { html } from 'hono/html'
import { type ImageType, OEMBED_PATH, previewPath, typeName } from '../../protocol.ts'
import type { ImageRecord, Preview } from '../../stores/object-store.ts'
import { byteSize } from '../messages/wording.ts'
import { X_BYTES } from '../preview-limits.ts'
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
  const shown = shownIn(ctx.baseUrl, record)
  const number = (value: number) => new Intl.NumberFormat(lang).format(value)
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
<meta property="og:image:type" content="${shown.type}">
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

/** What is shown beside a link: few chats take more than some hundred KB, and all take a preview. */
function shownIn(
  baseUrl: string,
  record: ImageRecord,
): Omit<Preview, 'sha256' | 'type'> & { type: ImageType; address: string } {
  const { id, preview } = record
  if (preview !== undefined) return { ...preview, address: baseUrl + previewPath(id) }
  return { ...record, address: embedCodes(baseUrl, record).direct }
}
