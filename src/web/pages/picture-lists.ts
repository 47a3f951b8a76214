/** Lists that the script fills: offered files, current uploads, earlier pictures, and device settings. */
import { html } from 'hono/html'
import type { Messages } from '../messages/english.ts'
import type { Page } from './page.ts'

export function pictureLists(messages: Messages): Page {
  const { upload, home, editor } = messages
  return html`<section class="offer" id="offer" aria-labelledby="offer-title" hidden>
<h2 id="offer-title" tabindex="-1"></h2>
<p id="offer-detail"></p>
<ul class="offer-files" id="offer-files" role="list"></ul>
<div class="actions">
<button type="button" class="button" id="offer-send">${home.upload}</button>
<button type="button" class="button quiet" id="offer-discard">${editor.discard}</button>
</div>
</section>
<section class="pictures" id="pictures" aria-labelledby="pictures-title" hidden>
<header class="pictures-head" id="pictures-head">
<h2 id="pictures-title" tabindex="-1">${upload.title}</h2>
<p class="soft" id="totals"></p>
<button type="button" class="button quiet" id="retry-all" hidden>${upload.retryAll}</button>
<div class="copy-as">
${formatChoice(messages, 'format')}
<button type="button" class="button quiet" id="copy-all" hidden>${upload.copyAll}</button>
<button type="button" class="button quiet" id="one-link" hidden>${upload.oneLink}</button>
</div>
</header>
<ol class="cards" id="uploads" role="list"></ol>
${earlier(messages)}
${menu(messages)}
</section>
${device(messages)}`
}

/** "Copy as" select. */
function formatChoice({ upload, viewer }: Messages, id: string): Page {
  const formats = [
    ['page', viewer.page],
    ['direct', viewer.direct],
    ['markdown', viewer.markdown],
    ['bbcode', viewer.bbcode],
    ['html', viewer.html],
  ]
  return html`<label for="${id}">${upload.copyAs}</label>
<select id="${id}">${formats.map(([value, name]) => html`<option value="${value}">${name}</option>`)}</select>`
}

/** The "More" menu, shared by all pictures. */
function menu({ upload }: Messages): Page {
  const action = (name: string, label: string) =>
    html`<button type="button" class="button text" role="menuitem" data-action="${name}">${label}</button>`
  return html`<div class="menu" id="menu" role="menu" popover>
<a class="button text" role="menuitem" data-action="open">${upload.open}</a>
${action('share', upload.share)}
${action('qr', upload.qr)}
${action('edit', upload.edit)}
${action('describe', upload.describe)}
${action('delete-link', upload.deleteLink)}
${action('delete', upload.delete)}
</div>`
}

function earlier(messages: Messages): Page {
  const { upload } = messages
  return html`<section class="earlier" id="earlier" aria-labelledby="earlier-title" hidden>
<header class="earlier-head">
<h2 id="earlier-title">${upload.earlier}</h2>
<input type="search" id="search" placeholder="${upload.search}" aria-label="${upload.search}" autocomplete="off" spellcheck="false" hidden>
<div class="copy-as">${formatChoice(messages, 'earlier-format')}</div>
<button type="button" class="button quiet" id="select">${upload.select}</button>
</header>
<div class="selection" id="selection" hidden>
<p id="selected" role="status"></p>
<button type="button" class="button" id="select-end">${upload.selectEnd}</button>
<button type="button" class="button quiet" id="select-all">${upload.selectAll}</button>
<button type="button" class="button quiet" id="copy-selected">${upload.copySelected}</button>
<button type="button" class="button quiet" id="link-selected">${upload.oneLink}</button>
<button type="button" class="button quiet" id="delete-selected">${upload.delete}</button>
<button type="button" class="button danger" id="delete-confirm" hidden></button>
<button type="button" class="button quiet" id="delete-keep" hidden>${upload.keep}</button>
</div>
<ol class="rows" id="remembered" role="list"></ol>
<p class="soft" id="no-match" role="status"></p>
<button type="button" class="button quiet" id="show-more" hidden>${upload.showMore}</button>
</section>`
}

function device({ upload }: Messages): Page {
  return html`<details class="live device" id="device">
<summary class="unfolds">${upload.device}</summary>
<p>${upload.deviceText}</p>
<p id="memory-only" hidden></p>
<label class="switch"><input type="checkbox" role="switch" id="remember" autocomplete="off" checked> ${upload.remember}</label>
<div class="actions">
<button type="button" class="button quiet" id="export" disabled>${upload.export}</button>
<button type="button" class="button quiet" id="import" disabled>${upload.import}</button>
<button type="button" class="button quiet" id="forget" disabled>${upload.forget}</button>
<input type="file" id="import-file" accept="application/json,.json" aria-label="${upload.import}" hidden>
</div>
<div class="confirm" id="forget-ask" hidden>
<p>${upload.forgetAsk}</p>
<div class="actions">
<button type="button" class="button danger" id="forget-confirm">${upload.forget}</button>
<button type="button" class="button quiet" id="forget-keep">${upload.keep}</button>
</div>
</div>
</details>`
}
