/** Shared parts of the decision forms: rule and reason fields, buttons, and pending decisions with undo. */
import { html } from 'hono/html'
import type { Decision } from '../../stores/decisions.ts'
import { english } from '../messages/english.ts'
import type { Page } from '../pages/page.ts'
import { type AdminContext, formToken } from './page.ts'
import { categoryName } from './words.ts'

/**
 * Fields for the public rule and the internal reason of a removal. The rule is never prefilled from a report, so that a claim
 * doesn't become the verdict.
 */
export function reasonFields(isReported: boolean): Page {
  return html`<p class="field"><label for="rule">Rule</label><input id="rule" name="rule" list="rules" maxlength="40" pattern="[a-z][a-z0-9\\-]*" autocomplete="off"></p>
<datalist id="rules">${Object.keys(english.report.categories).map((each) => html`<option value="${each}">${categoryName(each)}</option>`)}</datalist>
<p class="field"><label for="reason">Reason</label><input id="reason" name="reason" required maxlength="1000" value="${isReported ? 'as reported' : ''}" autocomplete="off"></p>`
}

export function decisionButton(name: string, label: string, key?: string): Page {
  const keyed = key === undefined ? '' : html` data-key="${key}" aria-keyshortcuts="${key}"`
  const kind = name.startsWith('remove') ? 'danger' : 'quiet'
  return html`<button class="button ${kind}" name="act" value="${name}"${keyed}>${label}${key === undefined ? '' : html` <kbd>${key}</kbd>`}</button>`
}

const OUTCOMES: Record<Decision['act'], { done: string; later: string }> = {
  keep: { done: 'Kept', later: 'Reporters see the decision in' },
  hold: { done: 'Held', later: 'Can be released at any time, or undone here for' },
  remove: { done: 'Hidden', later: 'Removed permanently in' },
}

/** Decisions that can still be undone, shown on every queue page. */
export function pendingSection(ctx: AdminContext, pending: Decision[], now: number): Page | '' {
  if (pending.length === 0) return ''
  const batches = [...Map.groupBy(pending, ({ batch }) => batch).values()]
  return html`<section class="pending" aria-label="Can be undone">${batches.map((batch, i) => item(ctx, batch, now, i === 0))}</section>`
}

function item(ctx: AdminContext, batch: Decision[], now: number, isNewest: boolean): Page {
  const [first, ...others] = batch
  const { id, act: decided, block, dueAt } = first!
  const left = Math.max(1, Math.ceil((dueAt - now) / 1000))
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  const { done, later } = OUTCOMES[decided]
  return html`<form method="post" action="/undo" data-left="${left}">${formToken(ctx)}
<input type="hidden" name="batch" value="${first!.batch}">
<p role="status">${done}: <code>${id}</code>${more}. ${later} <span>${left}</span> s${block ? ', and its bytes are blocked' : ''}.</p>
<button class="button quiet"${isNewest ? html` data-key="z" aria-keyshortcuts="z"` : ''}>Undo${isNewest ? html` <kbd>z</kbd>` : ''}</button>
</form>`
}
