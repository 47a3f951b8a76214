import { html } from 'hono/html'
import { LIFETIMES } from '../../lifetimes.ts'
import { EXPIRES_PARAMETER, IMAGE_TYPES, UPLOAD_FIELD, UPLOAD_PATH } from '../../protocol.ts'
import type { Messages } from '../messages/english.ts'
import { duration, fill, limitSize } from '../messages/wording.ts'
import { cardTemplate } from './card-template.ts'
import { beam, NAMES_ORIGIN, notice, type Page, type PageContext, page } from './page.ts'
import { factsBlock, homeFacts } from './page-facts.ts'
import { pictureLists } from './picture-lists.ts'

type Lifetimes = PageContext['lifetimes']

/** Home page: a plain form that works without scripts and is enhanced by them. */
export function homePage(ctx: PageContext, { uploadsPaused }: { uploadsPaused: boolean }): Page {
  const { messages, baseUrl, stripsMetadata, lifetimes } = ctx
  const { home, upload, lang } = messages
  const limit = limitSize(lang, ctx.maxUploadBytes)
  return page(ctx, {
    title: home.title,
    kind: 'home',
    script: 'home',
    style: 'home',
    head: html`${NAMES_ORIGIN}
<meta name="description" content="${home.description}">
<link rel="canonical" href="${baseUrl}/">
<meta property="og:type" content="website">
<meta property="og:site_name" content="Pinhole">
<meta property="og:title" content="${home.headline}">
<meta property="og:description" content="${home.description}">
<meta property="og:url" content="${baseUrl}/">
<meta property="og:image" content="${baseUrl}${ctx.assets.preview}">
<meta property="og:image:type" content="image/png">
<meta property="og:image:width" content="1200">
<meta property="og:image:height" content="630">
<meta name="twitter:card" content="summary_large_image">`,
    main: html`<main>
<section class="hero">
${beam()}
<h1>${home.headline}</h1>
<p class="lead">${home.noAccount} ${stripsMetadata ? home.stripped : home.notStripped}</p>
${uploadsPaused ? html`<p class="paused">${home.paused}</p>` : uploadForm(messages, limit, lifetimes)}
</section>
<p class="paused" id="outdated" role="alert" hidden>${home.outdated} <a href="/">${home.reload}</a></p>
${pictureLists(messages)}
<p class="honesty">${lifetimeNote(messages, lifetimes)} ${home.honesty}${stripsMetadata ? ` ${home.strippedDetail}` : ''}</p>
${notice(messages)}
</main>
<div class="aperture" aria-hidden="true"><p>${upload.letGo}</p></div>
${cardTemplate(messages)}
${factsBlock(homeFacts(ctx))}`,
  })
}

/** How long a picture stays. The style sheet shows the second sentence while the form has a lifetime selected. */
function lifetimeNote({ home }: Messages, { standard }: Lifetimes): Page {
  if (standard < Number.POSITIVE_INFINITY) return html`${home.staysForATime}`
  return html`<span class="stays">${home.staysUntilDeleted}</span> <span>${home.staysForATime}</span>`
}

/** Class `live` needs scripts; class `plain` is for pages without them. */
function uploadForm({ home, upload, lang }: Messages, limit: string, { standard, max }: Lifetimes): Page {
  const modes = Object.entries(upload.modes)
  const asServed =
    standard < Number.POSITIVE_INFINITY
      ? fill(upload.asServed, { time: duration(lang, standard) })
      : upload.untilDeleted
  const offered = Object.entries(LIFETIMES).filter(([, seconds]) => seconds <= max)
  return html`<form class="picker" id="upload" method="post" action="${UPLOAD_PATH}" enctype="multipart/form-data">
<div class="picker-row">
<input id="file" type="file" name="${UPLOAD_FIELD}" required accept="${IMAGE_TYPES.join(',')}">
<label for="file"><span class="plain">${home.file}</span><span class="live button">${upload.choose}</span></label>
<button type="submit" class="button plain">${home.upload}</button>
<button type="submit" class="button quiet plain" formaction="${UPLOAD_PATH}?${EXPIRES_PARAMETER}=1d">${home.uploadForADay}</button>
</div>
</form>
<p class="soft formats">${fill(home.formats, { limit })} <span class="live drop-hint">${upload.dropHint}</span></p>
<p class="quota" id="quota" hidden></p>
<details class="live options" id="options" open>
<summary>${upload.options}</summary>
<fieldset class="modes">
<legend class="visually-hidden">${upload.mode}</legend>
${modes.map(
  ([value, { name, meaning }], index) =>
    html`<label><input type="radio" name="mode" value="${value}" autocomplete="off" ${index === 0 ? 'checked' : ''}><span><b>${name}</b> <small>${meaning}</small></span></label>`,
)}
</fieldset>
<label class="lifetime">${upload.stays} <select id="expires" autocomplete="off">
<option value="">${asServed}</option>
${offered.map(([value]) => html`<option value="${value}">${upload.lifetimes[value as keyof typeof LIFETIMES]}</option>`)}
</select></label>
<div class="switches">
<label class="switch"><input type="checkbox" role="switch" id="edit-first" autocomplete="off"> ${upload.editFirst}</label>
<label class="switch"><input type="checkbox" role="switch" id="auto-copy" autocomplete="off" checked> ${upload.autoCopy}</label>
</div>
</details>`
}
