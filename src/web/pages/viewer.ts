import { html } from 'hono/html'
import { EXTENSIONS, rawPath } from '../../protocol.ts'
import type { ImageRecord } from '../../stores/object-store.ts'
import { byteSize, fill } from '../messages/wording.ts'
import { copyField } from './copy-field.ts'
import { deletedNote } from './delete.ts'
import { embedCodes } from './embed-codes.ts'
import { type Page, type PageContext, page } from './page.ts'

/** How people call the types. */
const NAMES = {
  'image/jpeg': 'JPEG',
  'image/png': 'PNG',
  'image/gif': 'GIF',
  'image/webp': 'WebP',
  'image/avif': 'AVIF',
} as const

/** The page that a link leads to: the picture, and how to take it along. */
export function viewerPage(ctx: PageContext, { record }: { record: ImageRecord }): Page {
  const { messages, baseUrl } = ctx
  const { viewer, lang } = messages
  const { id, type, width, height } = record
  const codes = embedCodes(baseUrl, record)
  const sides = { type: NAMES[type], width, height }
  const alt = fill(viewer.alt, sides)
  const title = fill(viewer.title, sides)
  const source = `${rawPath(id)}.${EXTENSIONS[type]}`
  return page(ctx, {
    title: `${title} · Pinhole`,
    kind: 'viewer',
    script: 'viewer',
    head: html`<meta name="robots" content="noindex">
<link rel="preload" as="image" href="${source}">
<meta property="og:type" content="website">
<meta property="og:site_name" content="Pinhole">
<meta property="og:title" content="${title}">
<meta property="og:url" content="${codes.page}">
<meta property="og:image" content="${codes.direct}">
<meta property="og:image:type" content="${type}">
<meta property="og:image:width" content="${width}">
<meta property="og:image:height" content="${height}">
<meta property="og:image:alt" content="${alt}">
<meta name="twitter:card" content="summary_large_image">
<meta name="twitter:title" content="${title}">
<meta name="twitter:image" content="${codes.direct}">
<meta name="twitter:image:alt" content="${alt}">`,
    main: html`<main>
<h1 class="visually-hidden">${title}</h1>
<div class="stage"><a href="${source}" aria-label="${viewer.fullSize}"><img id="picture" fetchpriority="high" class="${type === 'image/jpeg' ? '' : 'may-be-clear'}" src="${source}" width="${width}" height="${height}" alt="${alt}"></a></div>
<div class="plate">
<section class="caption" aria-label="${viewer.facts}">
<a class="back" href="/">${messages.back}</a>
<dl class="facts">
<div><dt>${viewer.type}</dt><dd>${record.animated ? fill(viewer.animated, sides) : sides.type}</dd></div>
<div><dt>${viewer.dimensions}</dt><dd>${width} × ${height}</dd></div>
<div><dt>${viewer.size}</dt><dd>${byteSize(lang, record.size)}</dd></div>
</dl>
<div class="actions">
<a class="button" href="${rawPath(id)}?dl=1" download>${viewer.download}</a>
${ownerActions(ctx, id)}
</div>
</section>
<section class="share" aria-labelledby="share">
<h2 id="share">${viewer.share}</h2>
${copyField(messages, { id: 'page', label: viewer.page, value: codes.page })}
${copyField(messages, { id: 'direct', label: viewer.direct, value: codes.direct })}
${copyField(messages, { id: 'markdown', label: viewer.markdown, value: codes.markdown })}
${copyField(messages, { id: 'bbcode', label: viewer.bbcode, value: codes.bbcode })}
${copyField(messages, { id: 'html', label: viewer.html, value: codes.html })}
</section>
</div>
<p class="notice" role="status" id="status"></p>
</main>
<template id="deleted">${deletedNote(ctx)}</template>`,
  })
}

/** Shown by the script to whoever uploaded the picture from this browser. The key is in its history, never here. */
function ownerActions({ messages: { upload, remove } }: PageContext, id: string): Page {
  return html`<span class="actions" id="owner" data-image="${id}" data-failed="${remove.failed}" data-offline="${remove.offline}" hidden>
<button type="button" class="button quiet">${upload.delete}</button>
<button type="button" class="button danger" hidden>${upload.confirmDelete}</button>
<button type="button" class="button quiet" hidden>${upload.keep}</button>
</span>`
}
