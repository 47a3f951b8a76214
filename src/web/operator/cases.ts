/** Reported images that wait for a decision, each with its forms. No image is fetched, and no reporter's words are shown. */
import { html } from 'hono/html'
import type { Case } from '../../stores/reports.ts'
import type { Page } from '../pages/page.ts'
import { type DoorContext, formToken } from './page.ts'

export function casesSection(ctx: DoorContext, cases: Case[], now: number): Page {
  if (cases.length === 0) return html`<p>None.</p>`
  return html`<ol>${cases.map((each) => caseItem(ctx, each, now))}</ol>
<p>What was reported, and by whom: <code>npm run operator -- show ID</code></p>`
}

function caseItem(ctx: DoorContext, { id, category, reports, dueAt }: Case, now: number): Page {
  const count = `${reports} ${reports === 1 ? 'report' : 'reports'}`
  const due = new Date(dueAt).toISOString()
  return html`<li><h3><code>${id}</code></h3>
<p>${category}, ${count}, ${dueAt < now ? 'overdue since' : 'due'} <time>${due}</time></p>
<form method="post" action="/images">${formToken(ctx)}
<input type="hidden" name="image" value="${id}">
<p><label>Reason <input name="reason" required maxlength="1000" aria-label="Reason, ${id}"></label>
${['hold', 'keep', 'remove'].map(
  (act) =>
    html`<button class="button" name="act" value="${act}" aria-label="${LABELS[act]}, ${id}">${LABELS[act]}</button> `,
)}</p>
</form></li>`
}

const LABELS: Record<string, string> = { keep: 'Keep', hold: 'Hold', remove: 'Remove for good' }
