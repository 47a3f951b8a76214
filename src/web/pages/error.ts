import { html } from 'hono/html'
import type { RefusalCode } from '../../errors.ts'
import { fill, limitSize } from '../messages/wording.ts'
import { contactLink, coveredBeam, type Page, type PageContext, page } from './page.ts'

interface ErrorFacts {
  status: number
  /** Code of a refusal. Selects a translated message if there is one. */
  error?: RefusalCode
  title: string
  detail: string
  /** Lets the operator find the request in the log. */
  requestId?: string
  /** The rule that the operator gave when removing the picture. Empty: none. */
  rule?: string
}

/** Error page. */
export function errorPage(
  ctx: PageContext,
  { status, error, title, detail, requestId, rule = '' }: ErrorFacts,
): Page {
  const { errors, report, lang } = ctx.messages
  const categories: Record<string, string> = report.categories
  const reason = Object.hasOwn(categories, rule) ? categories[rule]! : rule
  const contact = error === 'removed' ? ctx.operator?.contact : undefined
  const localTitle = (error && errors.titles[error]) ?? (lang === 'en' ? title : errors.fallbackTitle)
  const localDetail = (error && errors.details[error]) || detail
  return page(ctx, {
    title: `${localTitle} · Pinhole`,
    kind: 'note lost',
    style: 'note',
    head: html`<meta name="robots" content="noindex">`,
    main: html`<main>
${coveredBeam()}
<p class="status-code">${status}</p>
<h1>${localTitle}</h1>
${
  // The title alone is enough: a review is not a verdict.
  error === 'held'
    ? ''
    : html`<p class="lead">${fill(localDetail, { limit: limitSize(lang, ctx.maxUploadBytes) })}</p>`
}
${error === 'removed' && reason !== '' ? html`<blockquote class="reason"><p class="soft">${errors.reason}</p><p>${reason}</p></blockquote>` : ''}
${contact ? html`<p>${errors.appeal}${contactLink(contact)}</p>` : ''}
<p class="actions"><a class="button" href="/">${errors.home}</a></p>
${requestId ? html`<p class="soft"><code>${requestId}</code></p>` : ''}
</main>`,
  })
}
