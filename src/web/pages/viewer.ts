import { html } from 'hono/html'
import { EXTENSIONS, previewPath, rawPath, typeName } from '../../protocol.ts'
import type { ImageRecord } from '../../stores/object-store.ts'
import { byteSize, fill } from '../messages/wording.ts'
import { deletedNote } from './delete.ts'
import { type EmbedCodes, embedCodes } from './embed-codes.ts'
import { copyField, momentOf, notice, type Page, type PageContext, page } from './page.ts'
import { factsBlock, viewerFacts } from './page-facts.ts'
import { unfurlTags } from './unfurl.ts'

/** Ratio of height to width above which a picture fills the width and the page scrolls. */
const TALL_RATIO = 2.5

/** Pictures smaller than this are enlarged by a whole factor, up to this size. Unit: CSS pixels. */
const MIN_SIDE = 128

/** Viewer page of a link: the picture, actions and embed codes. */
export function viewerPage(ctx: PageContext, { record }: { record: ImageRecord }): Page {
  const { messages, baseUrl } = ctx
  const { viewer, upload, lang } = messages
  const { id, type, width, height } = record
  const codes = embedCodes(baseUrl, record)
  const sides = { type: typeName(type), width, height }
  const alt = fill(viewer.alt, sides)
  const title = fill(viewer.title, sides)
  const source = `${rawPath(id)}.${EXTENSIONS[type]}`
  // Show only JPEG previews while the picture loads: clients use JPEG only for opaque pictures, which cover it fully.
  const isResized = type === 'image/jpeg' && Boolean(ctx.resizer?.resized(record))
  const preview = isResized || record.preview?.type === 'image/jpeg' ? previewPath(id) : null
  return page(ctx, {
    title: `${title} · Pinhole`,
    kind: 'viewer',
    script: 'viewer',
    style: 'viewer',
    reportedId: id,
    head: html`<meta name="robots" content="noindex">
<link rel="preload" as="image" href="${preview ?? source}">
${unfurlTags(ctx, record, { title, alt })}`,
    main: html`<main>
<h1 class="visually-hidden">${title}</h1>
<div class="stage" id="stage"${height > width * TALL_RATIO ? ' data-tall' : ''}>${picture(source, preview, record, alt, viewer.fullSize)}</div>
<div class="plate">
<section class="caption" aria-label="${viewer.facts}">
<div class="actions">
<button type="button" class="button" id="copy-link" data-copy="page" hidden>${viewer.copyLink}</button>
<button type="button" class="button quiet" id="share-link" hidden>${upload.share}</button>
<button type="button" class="button quiet" id="copy-image" hidden>${viewer.copyImage}</button>
<a class="button quiet" href="${rawPath(id)}?dl=1" download>${viewer.download}</a>
<button type="button" class="button quiet" id="zoom" aria-pressed="false" hidden>${viewer.actualSize}</button>
${ownerActions(ctx, id)}
</div>
<dl class="facts">
<div><dt class="visually-hidden">${viewer.type}</dt><dd>${record.animated ? fill(viewer.animated, sides) : sides.type}</dd></div>
<div><dt class="visually-hidden">${viewer.dimensions}</dt><dd>${width} × ${height}</dd></div>
<div><dt class="visually-hidden">${viewer.size}</dt><dd>${byteSize(lang, record.size)}</dd></div>
${record.expiresAt === undefined ? '' : html`<div><dt class="visually-hidden">${viewer.staysUntil}</dt><dd>${momentOf(ctx, record.expiresAt)}</dd></div>`}
</dl>
</section>
${embedding(ctx, codes)}
<p><a class="back" href="/">${messages.frame.back}</a></p>
</div>
${notice(messages)}
</main>
<template id="deleted">${deletedNote(ctx)}</template>
${factsBlock(viewerFacts(ctx))}`,
  })
}

/**
 * The canvas is never drawn on. Its attributes reserve the picture's aspect ratio in every browser before any bytes arrive,
 * which an unloaded `img` doesn't do once CSS limits both of its sides. `preview`: its URL, shown until the picture has loaded.
 */
function picture(
  source: string,
  preview: string | null,
  { type, width, height }: ImageRecord,
  alt: string,
  label: string,
): Page {
  const step = Math.max(1, Math.floor(MIN_SIDE / Math.max(width, height)))
  const kind = [type === 'image/jpeg' || preview ? '' : 'may-be-clear', step > 1 ? 'enlarged' : '']
    .join(' ')
    .trim()
  return html`<a href="${source}" aria-label="${label}"><span class="frame"><canvas width="${width * step}" height="${height * step}" aria-hidden="true"></canvas>${preview === null ? '' : html`<img class="stand-in" fetchpriority="high" src="${preview}" alt="">`}<img id="picture" fetchpriority="${preview === null ? 'high' : 'low'}" class="${kind}" src="${source}" width="${width}" height="${height}" alt="${alt}"></span></a>`
}

/** Embed codes as radio tabs, without scripts. */
function embedding({ messages }: PageContext, codes: EmbedCodes): Page {
  const { viewer } = messages
  const names = ['page', 'direct', 'markdown', 'bbcode', 'html'] as const
  return html`<section class="share" aria-labelledby="share">
<h2 id="share">${viewer.share}</h2>
<fieldset class="tabs">
<legend class="visually-hidden">${viewer.share}</legend>
${names.map((name, index) => html`<label><input type="radio" name="code" value="${name}" ${index === 0 ? 'checked' : ''}><span>${viewer[name]}</span></label>\n`)}
</fieldset>
${names.map((name, index) => copyField(messages, { id: name, label: viewer[name], value: codes[name], isLink: index < 2, hidesLabel: true }))}
</section>`
}

/** Deletion buttons, revealed by the script if this browser's history has the key. The page never contains the key. */
function ownerActions({ messages: { upload } }: PageContext, id: string): Page {
  return html`<span class="actions" id="owner" data-image="${id}" hidden>
<button type="button" class="button quiet" id="owner-delete">${upload.delete}</button>
<button type="button" class="button danger" id="owner-confirm" hidden>${upload.confirmDelete}</button>
<button type="button" class="button quiet" id="owner-keep" hidden>${upload.keep}</button>
</span>`
}
