/** The form for reports, and the receipt. */
import { html } from 'hono/html'
import type { Receipt } from '../../stores/reports.ts'
import { type Page, type PageContext, page } from './page.ts'

/** `image`: the link that is filled in, or an empty text. */
export function reportPage(ctx: PageContext, { image }: { image: string }): Page {
  const { report, frame } = ctx.messages
  const field = (name: string, label: string, input: Page) =>
    html`<p class="field"><label for="${name}">${label}</label>${input}</p>`
  const line = (name: string, label: string, type: string, complete: string) =>
    field(
      name,
      label,
      html`<input id="${name}" name="${name}" type="${type}" maxlength="200" autocomplete="${complete}">`,
    )
  return page(ctx, {
    title: `${report.title} · Pinhole`,
    kind: 'prose',
    style: 'report',
    head: html`<meta name="robots" content="noindex">`,
    main: html`<main>
<h1>${report.title}</h1>
<p>${report.lead}</p>
<form class="report" method="post" action="/report">
${field('image', report.image, html`<input id="image" name="image" type="text" inputmode="url" dir="ltr" required value="${image}">`)}
${field(
  'category',
  report.category,
  html`<select id="category" name="category" required><option value=""></option>${Object.entries(
    report.categories,
  ).map(([value, label]) => html`<option value="${value}">${label}</option>`)}</select>`,
)}
${field('text', report.text, html`<textarea id="text" name="text" rows="5" minlength="20" maxlength="2000" required aria-describedby="text-hint"></textarea><small id="text-hint">${report.textHint}</small>`)}
<fieldset><legend>${report.person}</legend>
<p>${report.personHint}</p>
${line('name', report.name, 'text', 'name')}
${line('email', report.email, 'email', 'email')}
${line('signature', report.signature, 'text', 'off')}
</fieldset>
<label class="confirm"><input type="checkbox" name="good-faith" value="yes" required><span>${report.goodFaith}</span></label>
<p><button class="button" type="submit">${report.send}</button></p>
</form>
<p><a class="back" href="/">${frame.back}</a></p>
</main>`,
  })
}

export function receiptPage(ctx: PageContext, { category, at, state, decidedAt }: Receipt): Page {
  const { report, frame, lang } = ctx.messages
  const date = (ms: number) => {
    const text = new Date(ms).toLocaleDateString(lang, { dateStyle: 'long', timeZone: 'UTC' })
    return html`<time datetime="${new Date(ms).toISOString()}">${text}</time>`
  }
  const label = report.categories[category as keyof typeof report.categories] ?? category
  return page(ctx, {
    title: `${report.receiptTitle} · Pinhole`,
    kind: 'prose',
    style: 'report',
    head: html`<meta name="robots" content="noindex">`,
    main: html`<main>
<h1>${report.receiptTitle}</h1>
<p>${report.receiptLead}</p>
<dl class="receipt">
<dt>${report.category}</dt><dd>${label}</dd>
<dt>${report.reported}</dt><dd>${date(at)}</dd>
<dt>${report.decision}</dt><dd>${report.states[state]}</dd>
${decidedAt === null ? '' : html`<dt>${report.decided}</dt><dd>${date(decidedAt)}</dd>`}
</dl>
<p><a class="back" href="/">${frame.back}</a></p>
</main>`,
  })
}
