import { html } from 'hono/html'
import { ID_LENGTH, KEY_PATTERN, previewPath } from '../../protocol.ts'
import { type Page, type PageContext, page } from './page.ts'
import { deletionFacts, factsBlock } from './page-facts.ts'

/**
 * Confirmation page of a deletion link; opening it deletes nothing. The button sends a DELETE by script, or posts the form to
 * `/delete` without scripts.
 */
export function deletePage(ctx: PageContext, { key }: { key: string }): Page {
  const { remove, upload } = ctx.messages
  const id = KEY_PATTERN.test(key) ? key.slice(0, ID_LENGTH) : null
  return page(ctx, {
    title: `${remove.title} · Pinhole`,
    kind: 'note',
    style: 'note',
    script: 'delete',
    head: html`<meta name="robots" content="noindex">`,
    main: html`<main>
<div class="asked" id="asked">
${id ? html`<img class="keepsake" src="${previewPath(id)}" alt="${remove.preview}">` : ''}
<h1>${remove.title}</h1>
<p class="lead">${remove.detail}</p>
<form class="actions" id="delete" method="post" action="/delete">
<input type="hidden" name="key" value="${key}">
<button type="submit" class="button danger">${upload.delete}</button>
<a class="button quiet" href="${id ? `/${id}` : '/'}">${remove.keep}</a>
</form>
</div>
<div class="asked" id="deleted" hidden>${deletedNote(ctx)}</div>
<div class="asked" id="gone" hidden>${deletedNote(ctx, { wasGone: true })}</div>
<p class="problem" role="status" id="status"></p>
</main>
${factsBlock(deletionFacts(ctx))}`,
  })
}

/** Response to the form post. With `wasGone`, also what the deletion link shows for an already deleted picture. */
export function deletedPage(ctx: PageContext, { wasGone = false } = {}): Page {
  const { doneTitle, goneTitle } = ctx.messages.remove
  return page(ctx, {
    title: `${wasGone ? goneTitle : doneTitle} · Pinhole`,
    kind: 'note',
    style: 'note',
    head: html`<meta name="robots" content="noindex">`,
    main: html`<main>${deletedNote(ctx, { wasGone })}</main>`,
  })
}

/** The message after a deletion. */
export function deletedNote(ctx: PageContext, { wasGone = false } = {}): Page {
  const { remove, errors } = ctx.messages
  return html`<h1 tabindex="-1">${wasGone ? remove.goneTitle : remove.doneTitle}</h1>
<p class="lead">${wasGone ? remove.goneDetail : remove.doneDetail}</p>
<p class="actions"><a class="button" href="/">${errors.home}</a></p>`
}
