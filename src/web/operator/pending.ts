/** What was decided and can still be undone, on every page of the queue. */
import { html } from 'hono/html'
import type { Decision } from '../../stores/decisions.ts'
import type { Page } from '../pages/page.ts'
import { type AdminContext, formToken } from './page.ts'

const TOLD: Record<Decision['act'], { done: string; later: string }> = {
  keep: { done: 'Kept', later: 'The reporters learn it' },
  hold: { done: 'Held', later: 'Can be released any time, and undone here' },
  remove: { done: 'Out of sight', later: 'Removed for good' },
}

export function pendingSection(ctx: AdminContext, pending: Decision[], now: number): Page | '' {
  if (pending.length === 0) return ''
  const batches = [...Map.groupBy(pending, ({ batch }) => batch).values()]
  return html`<section class="pending" aria-label="Can be undone">${batches.map((batch, i) => item(ctx, batch, now, i === 0))}</section>`
}

function item(ctx: AdminContext, batch: Decision[], now: number, isNewest: boolean): Page {
  const [first, ...others] = batch
  const { id, act, block, dueAt } = first!
  const left = Math.max(1, Math.ceil((dueAt - now) / 1000))
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  const later = act === 'hold' ? `${TOLD.hold.later} for` : `${TOLD[act].later} in`
  return html`<form method="post" action="/undo" data-left="${left}">${formToken(ctx)}
<input type="hidden" name="batch" value="${first!.batch}">
<p role="status">${TOLD[act].done}: <code>${id}</code>${more}. ${later} <span>${left}</span> s${block ? ', and its bytes are refused' : ''}.</p>
<button class="button quiet"${isNewest ? html` data-key="z" aria-keyshortcuts="z"` : ''}>Undo${isNewest ? html` <kbd>z</kbd>` : ''}</button>
</form>`
}
