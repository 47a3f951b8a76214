/** What is on its way, what was uploaded earlier, and what this device remembers of it. Filled by the script. */
import { html } from 'hono/html'
import type { Messages } from '../messages/messages.ts'
import type { Page } from './page.ts'

export function pictureLists({ upload, viewer }: Messages): Page {
  const formats = [
    ['page', viewer.page],
    ['direct', viewer.direct],
    ['markdown', viewer.markdown],
    ['bbcode', viewer.bbcode],
    ['html', viewer.html],
  ]
  return html`<section class="pictures" id="pictures" aria-labelledby="pictures-title" hidden>
<header class="pictures-head">
<h2 id="pictures-title" tabindex="-1">${upload.title}</h2>
<p class="soft" id="totals"></p>
<div class="copy-as">
<label for="format">${upload.copyAs}</label>
<select id="format">${formats.map(([value, name]) => html`<option value="${value}">${name}</option>`)}</select>
<button type="button" class="button quiet" id="copy-all" hidden>${upload.copyAll}</button>
</div>
</header>
<ol class="cards" id="uploads" role="list"></ol>
<section id="earlier" aria-labelledby="earlier-title" hidden>
<h2 class="earlier-title" id="earlier-title">${upload.earlier}</h2>
<ol class="cards" id="remembered" role="list"></ol>
<button type="button" class="button quiet" id="show-more" hidden>${upload.showMore}</button>
</section>
</section>
<details class="live device" id="device">
<summary>${upload.device}</summary>
<p>${upload.deviceText}</p>
<p id="memory-only" hidden></p>
<label class="switch"><input type="checkbox" role="switch" id="remember" checked> ${upload.remember}</label>
<div class="actions">
<button type="button" class="button quiet" id="export">${upload.export}</button>
<button type="button" class="button quiet" id="import">${upload.import}</button>
<button type="button" class="button quiet" id="forget">${upload.forget}</button>
<input type="file" id="import-file" accept="application/json,.json" aria-label="${upload.import}" hidden>
</div>
<div class="confirm" id="forget-ask" hidden>
<p>${upload.forgetAsk}</p>
<div class="actions">
<button type="button" class="button danger" id="forget-confirm">${upload.confirmForget}</button>
<button type="button" class="button quiet" id="forget-keep">${upload.keep}</button>
</div>
</div>
</details>`
}
