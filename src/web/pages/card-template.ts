/** The card of one picture, for the script to fill. Everything is in it; what does not apply is hidden. */
import { html } from 'hono/html'
import type { Messages } from '../messages/messages.ts'
import type { Page } from './page.ts'

export function cardTemplate({ upload, viewer }: Messages): Page {
  const action = (name: string, label: string, style = 'text') =>
    html`<button type="button" class="button ${style}" data-action="${name}" hidden>${label}</button>`
  return html`<template id="card"><li class="card">
<div class="exposure"><img alt="" width="88" height="88" draggable="false" hidden></div>
<div class="card-words">
<h3 class="card-name"></h3>
<p class="card-state"></p>
<p class="card-note" hidden></p>
</div>
<progress max="100" value="0" hidden></progress>
<div class="card-link" hidden><input type="text" readonly spellcheck="false" autocomplete="off"><button type="button" class="button" data-action="copy">${viewer.copy}</button></div>
<div class="card-actions">
<a class="button text" data-action="open" hidden>${upload.open}</a>
${action('share', upload.share)}
${action('qr', upload.qr)}
${action('delete-link', upload.deleteLink)}
${action('delete', upload.delete)}
${action('confirm-delete', upload.confirmDelete, 'danger')}
${action('keep', upload.keep, 'quiet')}
${action('without-place', upload.withoutPlace, '')}
${action('with-place', upload.withPlace, 'quiet')}
${action('retry', upload.retry, 'quiet')}
${action('cancel', upload.cancel)}
${action('dismiss', upload.dismiss)}
</div>
</li></template>
<dialog id="qr" aria-labelledby="qr-title">
<h2 id="qr-title">${upload.qrTitle}</h2>
<div class="qr-code"></div>
<p class="soft qr-link"></p>
<form method="dialog"><button class="button quiet">${upload.close}</button></form>
</dialog>`
}
