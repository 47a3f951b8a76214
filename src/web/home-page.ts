import { html } from 'hono/html'
import { IMAGE_TYPES, UPLOAD_FIELD, UPLOAD_PATH } from '../protocol.ts'
import { beam } from './beam.ts'
import { type Page, type PageContext, page } from './page.ts'
import { byteSize, fill } from './wording.ts'

/** The page at `/`: a plain form that works as it is, and comes alive where scripts run. */
export function homePage(ctx: PageContext, { uploadsPaused }: { uploadsPaused: boolean }): Page {
  const { home, lang } = ctx.messages
  const limit = byteSize(lang, ctx.maxUploadBytes)
  return page(ctx, {
    title: home.title,
    kind: 'home',
    head: html`<meta name="description" content="${home.description}">
<link rel="canonical" href="${ctx.baseUrl}/">`,
    main: html`<main>
<section class="hero">
${beam()}
<h1>${home.headline}</h1>
<p class="lead">${fill(home.lead, { limit })}</p>
${
  uploadsPaused
    ? html`<p class="paused" role="status">${home.paused}</p>`
    : html`<form class="picker" id="upload" method="post" action="${UPLOAD_PATH}" enctype="multipart/form-data">
<label class="visually-hidden" for="file">${home.file}</label>
<input id="file" type="file" name="${UPLOAD_FIELD}" required accept="${IMAGE_TYPES.join(',')}">
<button type="submit" class="button">${home.upload}</button>
</form>`
}
</section>
<p class="honesty">${home.honesty} ${ctx.stripsMetadata === false ? home.notStripped : home.stripped}</p>
</main>`,
  })
}
