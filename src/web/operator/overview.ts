/** The first page of the admin server: what is stored, held and done, and the forms to act. */
import { html } from 'hono/html'
import type { AuditEntry } from '../../stores/ledger.ts'
import type { Case } from '../../stores/reports.ts'
import type { Page } from '../pages/page.ts'
import { type AdminContext, adminPage, formToken } from './page.ts'

export interface OverviewFacts {
  /** Name, value now, and whether the operator changed it. */
  settings: { name: string; value: string; isChanged: boolean }[]
  isPaused: boolean
  counts: { name: string; value: number }[]
  /** That are open, as they should be decided. */
  cases: Case[]
  /** Epoch milliseconds. */
  now: number
  held: string[]
  acts: AuditEntry[]
}

export function overviewPage(ctx: AdminContext, facts: OverviewFacts): Page {
  const { settings, isPaused, counts, cases, now, held, acts } = facts
  return adminPage(
    ctx,
    isPaused ? 'Uploads are paused' : 'Uploads are on',
    html`<form method="post" action="/settings">${formToken(ctx)}
<input type="hidden" name="name" value="uploads">
<p><label>Reason <input name="reason" maxlength="1000"></label>
<button class="button" name="value" value="${isPaused ? 'on' : 'paused'}">${isPaused ? 'Resume' : 'Pause'} uploads</button></p>
</form>

<h2>Reported images</h2>
<p>${waiting(cases, now)}</p>
<p class="actions"><a class="button" href="/queue" data-key="j" aria-keyshortcuts="j">Decide <kbd>j</kbd></a> <a class="button quiet" href="/queue?state=held">Held for a report</a></p>

<h2>Look at an image</h2>
<form action="/cases"><p><label>Id or address <input name="image" required maxlength="500" autocomplete="off" spellcheck="false"></label>
<button class="button quiet">Look</button></p></form>

<h2>Act on an image, at once</h2>
<form method="post" action="/images">${formToken(ctx)}
<p><label>Id or address <input name="image" required maxlength="500" autocomplete="off" spellcheck="false"></label></p>
<p><label>Reason <input name="reason" required maxlength="1000"></label></p>
<p><label>Rule <input name="rule" maxlength="40" pattern="[a-z][a-z0-9\\-]*"></label></p>
<p><label><input type="checkbox" name="same-uploader" value="on"> Also this uploader’s other pictures of the last two days</label></p>
<p><label><input type="checkbox" name="block" value="on"> Block these bytes from being uploaded again (removal)</label></p>
<p><button class="button" name="act" value="hold">Hold</button>
<button class="button" name="act" value="release">Release</button>
<button class="button" name="act" value="remove">Remove for good</button></p>
</form>

<h2>Held images</h2>
${held.length === 0 ? html`<p>None.</p>` : html`<ul>${held.map((id) => html`<li><code>${id}</code></li>`)}</ul>`}

<h2>Settings</h2>
<ul>${settings.map(({ name, value, isChanged }) => html`<li><code>${name}</code> ${value}${isChanged ? '' : ' (as configured)'}</li>`)}</ul>
<form method="post" action="/settings">${formToken(ctx)}
<p><label>Setting <select name="name">${settings.map(({ name }) => html`<option>${name}</option>`)}</select></label>
<label>Value <input name="value" maxlength="20"></label></p>
<p><label>Reason <input name="reason" maxlength="1000"></label>
<button class="button">Change</button></p>
<p>Leave empty to reset.</p>
</form>

<h2>Counts</h2>
<ul>${counts.map(({ name, value }) => html`<li>${name} ${value}</li>`)}</ul>

<h2>Acts</h2>
<ol>${acts.map(({ at, act, subject, rule, reason, who }) => html`<li><time>${at}</time> ${act} <code>${subject}</code> ${rule} “${reason}” ${who}</li>`)}</ol>`,
  )
}

function waiting(cases: Case[], now: number): string {
  if (cases.length === 0) return 'Nothing waits for a decision.'
  const urgent = cases.filter(({ severity }) => severity <= 1).length
  const overdue = cases.filter(({ dueAt }) => dueAt < now).length
  return `${cases.length} wait for a decision, ${urgent} of them urgent, ${overdue} overdue.`
}
