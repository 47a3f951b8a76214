/** Templates that the script fills: the card of an upload, and the row of an earlier picture. */
import { html } from 'hono/html'
import type { Messages } from '../messages/english.ts'
import type { Page } from './page.ts'

export function cardTemplate({ upload, viewer }: Messages): Page {
  const action = (name: string, label: string, style = 'text') =>
    html`<button type="button" class="button ${style}" data-action="${name}" hidden>${label}</button>`
  const more = (style: string) =>
    html`<button type="button" class="button ${style}" data-action="more" aria-haspopup="menu" aria-expanded="false" hidden>${upload.more}</button>`
  return html`<template id="card"><li class="card">
<div class="exposure"><img alt="" width="88" height="88" draggable="false" hidden></div>
<div class="card-words">
<h3 class="card-name" dir="auto"></h3>
<p class="card-state"></p>
<p class="card-note" hidden></p>
</div>
<div class="card-link">
<progress max="100" value="0" hidden></progress>
<input type="text" dir="ltr" readonly spellcheck="false" autocomplete="off" hidden><button type="button" class="button" data-action="copy" hidden>${viewer.copy}</button>
</div>
<div class="card-actions">
<a class="button text" data-action="open" hidden>${upload.open}</a>
${action('share', upload.share)}
${action('edit', upload.edit)}
${action('qr', upload.qr)}
${action('delete', upload.delete)}
${more('text')}
${action('confirm-delete', upload.confirmDelete, 'danger')}
${action('keep', upload.keep, 'quiet')}
${action('without-place', upload.withoutPlace, '')}
${action('with-place', upload.withPlace, 'quiet')}
${action('skip', upload.skip, 'quiet')}
${action('retry', upload.retry, 'quiet')}
${action('cancel', upload.cancel)}
${action('dismiss', upload.dismiss)}
</div>
</li></template>
<template id="row"><li class="row">
<label class="row-pick"><input type="checkbox"></label>
<a class="row-open" aria-label="${upload.open}" draggable="false"></a>
<div class="row-thumbnail"><img alt="" width="56" height="56" draggable="false" hidden></div>
<div class="row-words">
<h3 class="card-name" dir="auto"></h3>
<p class="card-state"></p>
</div>
<div class="row-actions">
${action('copy', viewer.copy, 'quiet')}
${more('quiet')}
${action('confirm-delete', upload.confirmDelete, 'danger')}
${action('keep', upload.keep, 'quiet')}
</div>
</li></template>
<dialog id="qr" aria-labelledby="qr-title">
<h2 id="qr-title">${upload.qrTitle}</h2>
<div class="qr-code"></div>
<p class="soft qr-link" dir="ltr"></p>
<form method="dialog"><button class="button quiet">${upload.close}</button></form>
</dialog>
<dialog class="describe" id="describe" aria-label="${upload.describeTitle}">
<form method="dialog">
<label for="describe-text">${upload.describeTitle}</label>
<input id="describe-text" type="text" aria-describedby="describe-hint">
<p class="soft" id="describe-hint">${upload.describeHint}</p>
<div class="actions"><button class="button" value="save">${upload.describeSave}</button><button class="button quiet" value="">${upload.cancel}</button></div>
</form>
</dialog>`
}
