/** Report form and receipt. */
import { html } from 'hono/html'
import type { RefusalCode } from '../../errors.ts'
import { REPORT_PAGE_PATH } from '../../protocol.ts'
import type { Receipt } from '../../stores/reports.ts'
import { NAMES_ORIGIN, type Page, type PageContext, page } from './page.ts'

/** Prefilled values by field name. */
export type FilledIn = Partial<
  Record<'image' | 'category' | 'text' | 'name' | 'email' | 'signature', string> & { isInGoodFaith: boolean }
>

/** Required details by category. `contact`: name and email address. */
export type Needs = Record<string, { contact: string; needsSignature: boolean }>

/** `problem`: why the submitted form was rejected. `field`: where the mistake is, if it is in one. */
export function reportPage(
  ctx: PageContext,
  needs: Needs,
  filled: FilledIn,
  problem: { code: RefusalCode; detail: string; field?: string } | null = null,
): Page {
  const { report, frame, errors, lang } = ctx.messages
  /** The problem, at its field: the focus hides the top of the page on a phone. */
  const problemAt = (name: string) =>
    problem !== null && (problem.field ?? '') === name
      ? html`<p class="problem" id="problem" role="alert"><strong>${errors.titles[problem.code]}</strong> ${
          // Specific details exist only in English.
          problem.code === 'bad-report' && lang === 'en' ? problem.detail : errors.details[problem.code]
        }</p>`
      : ''
  const stateOf = (name: string, hint = '') => {
    const isWrong = problem?.field === name
    const describedBy = [isWrong && 'problem', hint].filter(Boolean).join(' ')
    return html`${isWrong ? html` aria-invalid="true" autofocus` : ''}${describedBy ? html` aria-describedby="${describedBy}"` : ''}`
  }
  const field = (name: string, label: string, input: Page) =>
    html`${problemAt(name)}<p class="field"><label for="${name}">${label}</label>${input}</p>`
  const line = (name: 'name' | 'email' | 'signature', label: string, type: string, autocomplete: string) =>
    field(
      name,
      label,
      html`<input id="${name}" name="${name}" type="${type}" maxlength="200" autocomplete="${autocomplete}" value="${filled[name] ?? ''}"${stateOf(name)}>`,
    )
  const option = (value: string, label: string) =>
    html`<option value="${value}"${needsAttribute(needs[value])}${value === filled.category ? html` selected` : ''}>${label}</option>`
  return page(ctx, {
    title: `${report.title} · Pinhole`,
    kind: 'prose',
    style: 'report',
    script: 'report',
    head: html`${NAMES_ORIGIN}
<meta name="robots" content="noindex">`,
    main: html`<main>
<h1>${report.title}</h1>
${problem === null ? html`<p>${report.lead}</p>` : problemAt('')}
<form class="report" method="post" action="${REPORT_PAGE_PATH}">
${field('image', report.image, html`<input id="image" name="image" type="text" inputmode="url" dir="ltr" required value="${filled.image ?? ''}"${stateOf('image')}>`)}
${field(
  'category',
  report.category,
  html`<select id="category" name="category" required${stateOf('category')}><option value=""></option>${Object.entries(
    report.categories,
  ).map(([value, label]) => option(value, label))}</select>`,
)}
${field('text', report.text, html`<textarea id="text" name="text" rows="5" minlength="20" maxlength="2000" required${stateOf('text', 'text-hint')}>${filled.text ?? ''}</textarea><small id="text-hint">${report.textHint}</small>`)}
<fieldset><legend>${report.person}</legend>
<p>${report.personHint}</p>
${line('name', report.name, 'text', 'name')}
${line('email', report.email, 'email', 'email')}
${line('signature', report.signature, 'text', 'name')}
</fieldset>
${problemAt('good-faith')}
<label class="confirm"><input type="checkbox" name="good-faith" value="yes" required${filled.isInGoodFaith ? html` checked` : ''}${stateOf('good-faith')}><span>${report.goodFaith}</span></label>
<p><button class="button" type="submit">${report.send}</button></p>
</form>
<p><a class="back" href="/">${frame.back}</a></p>
</main>`,
  })
}

/** Data attribute from which the script sets required fields. */
function needsAttribute(rules: Needs[string] | undefined): Page | '' {
  if (rules?.contact !== 'required') return ''
  return html` data-needs="name email${rules.needsSignature ? ' signature' : ''}"`
}

export function receiptPage(ctx: PageContext, { category, at, isShared, state, decidedAt }: Receipt): Page {
  const { report, frame } = ctx.messages
  const date = (ms: number) => {
    const text = new Date(ms).toLocaleDateString(ctx.locale, { dateStyle: 'long', timeZone: 'UTC' })
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
<dt>${report.reason}</dt><dd>${label}</dd>
<dt>${report.reported}</dt><dd>${date(at)}</dd>
<dt>${report.decision}</dt><dd>${report.states[state]}</dd>
${decidedAt === null ? '' : html`<dt>${report.decided}</dt><dd>${date(decidedAt)}</dd>`}
</dl>
${isShared ? html`<p>${report.counted}</p>` : ''}
<p><a class="back" href="/">${frame.back}</a></p>
</main>`,
  })
}
