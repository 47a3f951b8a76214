/** Other images by the same uploader, found without storing IP addresses. Shown on request, as mosaics only. */
import { html } from 'hono/html'
import type { Decision } from '../../stores/decisions.ts'
import type { Page } from '../pages/page.ts'
import { decisionButton, pendingSection, reasonFields } from './decision.ts'
import { type AdminContext, adminPage, formToken } from './page.ts'
import { mosaicFilter, picture } from './picture.ts'

export interface OthersFacts {
  /** ID of the image whose uploader is shown. */
  id: string
  isReported: boolean
  /** Newest first. */
  others: string[]
  show: 'text' | 'mosaic'
  pending: Decision[]
  /** Epoch milliseconds. */
  now: number
}

/** Maximum number of pictures per page, because each is a request. */
const MAX_SHOWN = 60

export function othersPage(
  ctx: AdminContext,
  { id, isReported, others, show, pending, now }: OthersFacts,
): Page {
  const path = `/cases/${id}/others`
  return adminPage(
    ctx,
    'More from this uploader',
    html`${pendingSection(ctx, pending, now)}
<nav class="steps" aria-label="Navigation"><ol><li><a href="/cases/${id}" data-key="k" aria-keyshortcuts="k">Back to the case <kbd>k</kbd></a></li>
<li>${
      show === 'text'
        ? html`<a href="${path}?show=mosaic" data-key="space" aria-keyshortcuts="Space">Show mosaics <kbd>space</kbd></a>`
        : html`<a href="${path}">Text only</a>`
    }</li></ol></nav>
<p>${others.length} uploaded within two days of <code>${id}</code>.${others.length > MAX_SHOWN ? ` The newest ${MAX_SHOWN} are listed.` : ''}</p>
${show === 'text' ? '' : mosaicFilter()}
<ul class="others">${others
      .slice(0, MAX_SHOWN)
      .map(
        (each) =>
          html`<li>${picture(each, show, `A mosaic of ${each}`)}<a href="/cases/${each}"><code>${each}</code></a></li>`,
      )}</ul>
${
  others.length === 0
    ? ''
    : html`<section aria-labelledby="decision"><h2 id="decision">Decide on all of them, with this image</h2>
<form class="decision" method="post" action="/cases/${id}">${formToken(ctx)}
<input type="hidden" name="same-uploader" value="on">
${reasonFields(isReported)}
<p class="actions">${isReported ? decisionButton('keep', 'Keep all that are reported', 'y') : ''}
${decisionButton('hold', 'Hold all', 'h')}
${decisionButton('remove', 'Remove all', 'r')}
${decisionButton('remove-and-block', 'Remove and block all', 'b')}</p>
</form></section>`
}`,
    'prose queue',
  )
}
