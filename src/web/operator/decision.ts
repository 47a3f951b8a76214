/** Shared parts of the decision forms: rule and reason fields, buttons, and pending decisions with undo. */
import { html } from 'hono/html'
import type { Decision } from '../../stores/decisions.ts'
import { english } from '../messages/english.ts'
import type { Page } from '../pages/page.ts'
import { type AdminContext, formToken } from './page.ts'
import { categoryName } from './words.ts'

/**
 * Fields for the public rule and the internal reason of a removal. The rule is never prefilled from a report, so that a claim
 * doesn't become the verdict. Decisions about a report have a default reason.
 */
export function reasonFields(isReported: boolean): Page {
  return html`<p class="field"><label for="rule">Rule</label><input id="rule" name="rule" list="rules" maxlength="40" pattern="[a-z][a-z0-9\\-]*" autocomplete="off"></p>
<datalist id="rules">${Object.keys(english.report.categories).map((each) => html`<option value="${each}">${categoryName(each)}</option>`)}</datalist>
<p class="field"><label for="reason">Reason${isReported ? html`, by default <i>${DEFAULT_REASON.other}</i>, or <i>${DEFAULT_REASON.favour}</i> to keep or release it` : ''}</label><input id="reason" name="reason"${isReported ? '' : html` required`} maxlength="1000" autocomplete="off"></p>`
}

/** Reasons recorded if none is entered. */
export const DEFAULT_REASON = { other: 'as reported', favour: 'unfounded' }

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

/**
 * Decisions that can still be undone, shown on every queue page. The key undoes one's own newest, as another operator's may be
 * newer. The others are folded, so that many don't push the case off the screen.
 */
export function pendingSection(ctx: AdminContext, pending: Decision[], now: number): Page | '' {
  if (pending.length === 0) return ''
  const batches = [...Map.groupBy(pending, ({ batch }) => batch).values()]
  const own = batches.find((batch) => batch[0]!.who === ctx.who)
  const others = batches.filter((batch) => batch !== own)
  return html`<section class="pending" aria-label="Can be undone">${own === undefined ? '' : item(ctx, own, now, true)}${
    others.length === 0
      ? ''
      : html`<details><summary>Others that can be undone</summary>${others.map((batch) => item(ctx, batch, now, false))}</details>`
  }</section>`
}

function item(ctx: AdminContext, batch: Decision[], now: number, isNewest: boolean): Page {
  const [first, ...others] = batch
  const { id, act: decided, block, dueAt, who } = first!
  const left = Math.max(1, Math.ceil((dueAt - now) / 1000))
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  const { done, later } = OUTCOMES[decided]
  const by = who === ctx.who ? '' : ` by ${who}`
  return html`<form method="post" action="/undo" data-left="${left}">${formToken(ctx)}
<input type="hidden" name="batch" value="${first!.batch}">
<p role="status">${done}${by}: <code>${id}</code>${more}. ${later} <span>${left}</span> s${block ? ', and its bytes are blocked' : ''}.</p>
<button class="button quiet"${isNewest ? html` data-key="z" aria-keyshortcuts="z"` : ''}>Undo${isNewest ? html` <kbd>z</kbd>` : ''}</button>
</form>`
}
