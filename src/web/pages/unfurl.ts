/** What chats and forums read of a page to show the picture beside its link: all of it within the first 8 KB. */
import { html } from 'hono/html'
import { OEMBED_PATH } from '../../protocol.ts'
import type { ImageRecord } from '../../stores/object-store.ts'
import { byteSize } from '../messages/wording.ts'
import { embedCodes } from './embed-codes.ts'
import { imageTypeNames } from './image-type-names.ts'
import type { Page, PageContext } from './page.ts'

/** From what size on no preview is shown there. Unit: bytes. Measured by others in 2026, promised by nobody. */
const WHATSAPP_BYTES = 600_000
const X_BYTES = 5_000_000

/** `title` and `alt`: in words. */
export function unfurlTags(
  ctx: PageContext,
  record: ImageRecord,
  { title, alt }: { title: string; alt: string },
): Page {
  const { lang } = ctx.messages
  const { type, width, height, size } = record
  const { page, direct } = embedCodes(ctx.baseUrl, record)
  const number = (value: number) => new Intl.NumberFormat(lang).format(value)
  const description = `${imageTypeNames[type]}, ${number(width)} × ${number(height)}, ${byteSize(lang, size)}`
  // X shows no AVIF, and a large card without its picture is a hole.
  const isShownLarge = type !== 'image/avif' && size <= X_BYTES
  const oembed = `${ctx.baseUrl}${OEMBED_PATH}?url=${encodeURIComponent(page)}`
  return html`<meta property="og:type" content="website">
<meta property="og:site_name" content="Pinhole">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
<meta property="og:url" content="${page}">
<meta property="og:image" content="${direct}">
<meta property="og:image:type" content="${type}">
<meta property="og:image:width" content="${width}">
<meta property="og:image:height" content="${height}">
<meta property="og:image:alt" content="${alt}">
<meta name="twitter:card" content="${isShownLarge ? 'summary_large_image' : 'summary'}">
<meta name="twitter:title" content="${title}">
<meta name="twitter:description" content="${description}">
<meta name="twitter:image" content="${direct}">
<meta name="twitter:image:alt" content="${alt}">
<link rel="alternate" type="application/json+oembed" href="${oembed}" title="${title}">`
}

/** One line for whoever is about to share a picture that some chats will not show; `null` if all do. */
export function previewNote({ result }: PageContext['messages'], bytes: number): string | null {
  if (bytes > X_BYTES) return result.noPreviewAtAll
  return bytes > WHATSAPP_BYTES ? result.noPreviewInWhatsApp : null
}
