import { html } from 'hono/html'
import { rawPath, type UploadAnswer } from '../../protocol.ts'
import { plural } from '../messages/wording.ts'
import { previewNote } from '../preview-limits.ts'
import { copyField, momentOf, notice, type Page, type PageContext, page } from './page.ts'
import { factsBlock, viewerFacts } from './page-facts.ts'

/** Response to a plain form upload. The only page on which the server shows a deletion key. */
export function resultPage(
  ctx: PageContext,
  { answer, remaining, bytes }: { answer: UploadAnswer; remaining: number; bytes: number },
): Page {
  const { messages } = ctx
  const { result } = messages
  const note = previewNote(messages.result, bytes)
  return page(ctx, {
    title: `${result.title} · Pinhole`,
    kind: 'note',
    style: 'note',
    script: 'viewer',
    head: html`<meta name="robots" content="noindex">`,
    main: html`<main>
<img class="keepsake" src="${rawPath(answer.id)}" alt="">
<h1>${result.title}</h1>
${copyField(messages, { id: 'link', label: result.link, value: answer.link, isLink: true })}
<p class="actions"><a class="button" href="${answer.link}">${messages.upload.open}</a> <a class="button quiet" href="/">${result.another}</a></p>
${answer.expires === undefined ? '' : html`<p>${messages.viewer.staysUntil}: ${momentOf(ctx, answer.expires)}</p>`}
${note === null ? '' : html`<p class="soft">${note}</p>`}
<div class="keep">
<p>${result.keep}</p>
${copyField(messages, { id: 'delete-link', label: result.deleteLink, value: answer.delete, isLink: true })}
</div>
<p class="soft">${plural(messages.lang, result.remaining, remaining)}</p>
${notice(messages)}
</main>
${factsBlock(viewerFacts(ctx))}`,
  })
}
