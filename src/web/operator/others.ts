/** What the uploader of an image stored beside it, found without an address. Fetched when asked for, as mosaics alone. */
import { html } from 'hono/html'
import type { Decision } from '../../stores/decisions.ts'
import type { Page } from '../pages/page.ts'
import { act, grounds, pendingSection } from './decision.ts'
import { type AdminContext, adminPage, formToken } from './page.ts'
import { mosaicFilter, picture } from './picture.ts'

export interface OthersFacts {
  /** Id of the image whose uploader it is. */
  id: string
  isReported: boolean
  /** The newest first. */
  others: string[]
  show: 'text' | 'mosaic'
  pending: Decision[]
  /** Epoch milliseconds. */
  now: number
}

/** Pictures on one page: each is one request. */
const SHOWN = 60

export function othersPage(
  ctx: AdminContext,
  { id, isReported, others, show, pending, now }: OthersFacts,
): Page {
  const path = `/cases/${id}/others`
  return adminPage(
    ctx,
    'The uploader’s others',
    html`${pendingSection(ctx, pending, now)}
<nav class="steps" aria-label="Where to"><ol><li><a href="/cases/${id}" data-key="k" aria-keyshortcuts="k">Back to the case <kbd>k</kbd></a></li>
<li>${
      show === 'text'
        ? html`<a href="${path}?show=mosaic" data-key="space" aria-keyshortcuts="Space">Show mosaics <kbd>space</kbd></a>`
        : html`<a href="${path}">Text only</a>`
    }</li></ol></nav>
<p>${others.length} within two days of <code>${id}</code>.${others.length > SHOWN ? ` The newest ${SHOWN} are listed.` : ''}</p>
${show === 'text' ? '' : mosaicFilter()}
<ul class="others">${others
      .slice(0, SHOWN)
      .map(
        (each) =>
          html`<li>${picture(each, show, `A mosaic of ${each}`)}<a href="/cases/${each}"><code>${each}</code></a></li>`,
      )}</ul>
${
  others.length === 0
    ? ''
    : html`<section aria-labelledby="decision"><h2 id="decision">All of them, and the reported one</h2>
<form class="decision" method="post" action="/cases/${id}">${formToken(ctx)}
<input type="hidden" name="same-uploader" value="on">
${grounds(isReported)}
<p class="actions">${act('hold', 'Hold all', 'h')}
${act('remove', 'Remove all', 'r')}
${act('remove-and-block', 'Remove and block all', 'b')}</p>
</form></section>`
}`,
    { kind: 'prose queue' },
  )
}
