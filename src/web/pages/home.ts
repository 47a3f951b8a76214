import { html } from 'hono/html'
import { IMAGE_TYPES, UPLOAD_FIELD, UPLOAD_PATH } from '../../protocol.ts'
import type { Messages } from '../messages/messages.ts'
import { byteSize, fill } from '../messages/wording.ts'
import { beam } from './beam.ts'
import { cardTemplate } from './card-template.ts'
import { type Page, type PageContext, page } from './page.ts'
import { pageFacts } from './page-facts.ts'
import { pictureLists } from './picture-lists.ts'

/** The page at `/`: a plain form that works as it is, and comes alive where scripts run. */
export function homePage(ctx: PageContext, { uploadsPaused }: { uploadsPaused: boolean }): Page {
  const { messages } = ctx
  const { home, upload, lang } = messages
  const limit = byteSize(lang, ctx.maxUploadBytes)
  return page(ctx, {
    title: home.title,
    kind: 'home',
    script: 'home',
    head: html`<meta name="description" content="${home.description}">
<link rel="canonical" href="${ctx.baseUrl}/">`,
    main: html`<main>
<section class="hero">
${beam()}
<h1>${home.headline}</h1>
<p class="lead">${fill(home.lead, { limit })}</p>
${uploadsPaused ? html`<p class="paused">${home.paused}</p>` : uploadForm(messages)}
</section>
${pictureLists(messages)}
<p class="honesty">${home.honesty} ${ctx.stripsMetadata === false ? home.notStripped : home.stripped} <a href="/terms">${messages.terms.link}</a></p>
</main>
<div class="aperture" aria-hidden="true"><p>${upload.letGo}</p></div>
<p class="notice" role="status" id="status"></p>
${cardTemplate(messages)}
${pageFacts(ctx)}`,
  })
}

/** What scripts add is marked `live`; what only goes without them, `plain`. */
function uploadForm({ home, upload }: Messages): Page {
  const modes = Object.entries(upload.modes)
  return html`<form class="picker" id="upload" method="post" action="${UPLOAD_PATH}" enctype="multipart/form-data">
<div class="picker-row">
<input id="file" type="file" name="${UPLOAD_FIELD}" required accept="${IMAGE_TYPES.join(',')}">
<label for="file"><span class="plain">${home.file}</span><span class="live button">${upload.choose}</span></label>
<button type="submit" class="button plain">${home.upload}</button>
</div>
</form>
<div class="live options">
<p class="soft">${upload.hint}</p>
<fieldset class="modes">
<legend class="visually-hidden">${upload.mode}</legend>
${modes.map(
  ([value, { name, meaning }], index) =>
    html`<label><input type="radio" name="mode" value="${value}" ${index === 0 ? 'checked' : ''}><span><b>${name}</b> <small>${meaning}</small></span></label>`,
)}
</fieldset>
<p class="soft" id="quota">&nbsp;</p>
</div>`
}
