/** Overview page of the admin server: counts, held images, recent actions, and forms. */
import { html } from 'hono/html'
import type { Decision } from '../../stores/decisions.ts'
import type { AuditEntry, LedgerCounts } from '../../stores/ledger.ts'
import type { Case } from '../../stores/reports.ts'
import type { Page } from '../pages/page.ts'
import { decisionButton, pendingSection, reasonFields } from './decision.ts'
import { type AdminContext, adminPage, formToken } from './page.ts'
import { ACTS, COUNTS, SETTINGS } from './words.ts'

export interface OverviewFacts {
  /** Current settings, and whether the operator changed each. */
  settings: { name: string; value: string; isChanged: boolean }[]
  isPaused: boolean
  counts: LedgerCounts
  /** Open cases, in order of priority. More than `MAX_COUNTED_CASES` are not counted. */
  cases: Case[]
  /** Epoch milliseconds. */
  now: number
  /** Longest held first. More than `MAX_SHOWN_HELD` are not listed. */
  held: string[]
  acts: AuditEntry[]
  /** Decisions that can still be undone. */
  pending: Decision[]
}

export const MAX_COUNTED_CASES = 1000
export const MAX_SHOWN_HELD = 200

export function overviewPage(ctx: AdminContext, facts: OverviewFacts): Page {
  const { settings, isPaused, counts, cases, now, held, acts, pending } = facts
  return adminPage(
    ctx,
    isPaused ? 'Uploads are paused' : 'Uploads are on',
    html`${pendingSection(ctx, pending, now)}
<form class="decision" method="post" action="/settings">${formToken(ctx)}
<input type="hidden" name="name" value="uploads">
<p class="field"><label for="pause-reason">Reason</label><input id="pause-reason" name="reason" maxlength="1000" autocomplete="off"></p>
<p class="actions"><button class="button" name="value" value="${isPaused ? 'on' : 'paused'}">${isPaused ? 'Resume' : 'Pause'} uploads</button></p>
</form>

<h2>Reported images</h2>
<p>${queueSummary(cases, now)}</p>
<p class="actions"><a class="button" href="/queue" data-key="j" aria-keyshortcuts="j">Decide <kbd>j</kbd></a> <a class="button quiet" href="/queue?state=held">Held cases</a></p>

<h2>View an image</h2>
<form class="decision" action="/cases">
<p class="field"><label for="look-image">ID or link</label><input id="look-image" name="image" required maxlength="500" autocomplete="off" spellcheck="false"></p>
<p class="actions"><button class="button quiet">View</button></p>
</form>

<h2>Act on an image</h2>
<form class="decision" method="post" action="/images">${formToken(ctx)}
<p class="field"><label for="image">ID or link</label><input id="image" name="image" required maxlength="500" autocomplete="off" spellcheck="false"></p>
${reasonFields(false)}
<p><label class="confirm"><input type="checkbox" name="same-uploader" value="on"><span>Also this uploader’s other pictures of the last two days</span></label></p>
<p><label class="confirm"><input type="checkbox" name="same-network" value="on"><span>Also all pictures from its network in the last two days. Others may share it.</span></label></p>
<p><label class="confirm"><input type="checkbox" name="block" value="on"><span>When removing: block these bytes from being uploaded again</span></label></p>
<p class="actions">${decisionButton('hold', 'Hold')}
${decisionButton('release', 'Release')}
${decisionButton('remove', 'Remove for good')}</p>
<p class="soft">Hold and Remove hide the picture immediately, and can be undone for 10 seconds.</p>
</form>

<h2>Hold many images</h2>
<form class="decision" method="post" action="/floods">${formToken(ctx)}
<p class="field"><label for="images">IDs or links, one per line</label><textarea id="images" name="images" rows="4" autocomplete="off" spellcheck="false"></textarea></p>
<p class="field"><label for="minutes">Plus everything uploaded in the last … minutes</label><input id="minutes" name="minutes" type="number" min="1" max="2880" inputmode="numeric"></p>
<p class="field"><label for="flood-reason">Reason</label><input id="flood-reason" name="reason" required maxlength="1000" autocomplete="off"></p>
<p><label class="confirm"><input type="checkbox" name="same-uploader" value="on"><span>Also these uploaders’ other pictures of the last two days</span></label></p>
<p><label class="confirm"><input type="checkbox" name="same-network" value="on"><span>Also all pictures from their networks in the last two days. Others may share them.</span></label></p>
<p class="actions"><button class="button quiet">Hold all</button></p>
<p class="soft">Up to 1,000 at once. Each can be released later.</p>
</form>

<h2>Held images</h2>
${held.length === 0 ? html`<p>None.</p>` : html`<ul class="held">${held.slice(0, MAX_SHOWN_HELD).map((id) => html`<li><a href="/cases/${id}"><code>${id}</code></a></li>`)}</ul>`}
${held.length > MAX_SHOWN_HELD ? html`<p>And more. These ${MAX_SHOWN_HELD} have been held the longest.</p>` : ''}

<h2>Settings</h2>
<dl class="facts">${settings.map(({ name, value, isChanged }) => html`<dt>${SETTINGS[name] ?? name}</dt><dd>${value === '0' ? 'none' : value}${isChanged ? ' (changed)' : ''}</dd>`)}</dl>
<form class="decision" method="post" action="/settings">${formToken(ctx)}
<p class="field"><label for="setting">Setting</label><select id="setting" name="name">${settings.map(({ name }) => html`<option value="${name}">${SETTINGS[name] ?? name}</option>`)}</select></p>
<p class="field"><label for="value">Value</label><input id="value" name="value" maxlength="20" autocomplete="off"></p>
<p class="field"><label for="setting-reason">Reason</label><input id="setting-reason" name="reason" maxlength="1000" autocomplete="off"></p>
<p class="actions"><button class="button quiet">Change</button></p>
<p class="soft">Leave the value empty to reset it. 0 means none.</p>
</form>

<h2>Totals</h2>
<dl class="facts">${(Object.keys(COUNTS) as (keyof LedgerCounts)[]).map((name) => count(COUNTS[name], counts[name]))}</dl>

<h2>Recent actions</h2>
${acts.length === 0 ? html`<p>Nothing yet.</p>` : ''}<ol class="reports">${acts.map(({ at, act, subject, rule, reason, who }) => html`<li><time>${at.slice(0, 16)}Z</time> ${ACTS[act]} <code>${subject}</code> ${rule} “${reason}” ${who}</li>`)}</ol>`,
    'prose queue',
  )
}

function count(name: string, value: number | null): Page {
  return html`${value === null ? '' : html`<dt>${name}</dt><dd>${new Intl.NumberFormat('en').format(value)}</dd>`}`
}

function queueSummary(cases: Case[], now: number): string {
  if (cases.length === 0) return 'Nothing is waiting for a decision.'
  const count = cases.length > MAX_COUNTED_CASES ? `more than ${MAX_COUNTED_CASES}` : cases.length
  const urgent = cases.filter(({ severity }) => severity <= 1).length
  const overdue = cases.filter(({ dueAt }) => dueAt < now).length
  return `Waiting for a decision: ${count}, ${urgent} of them urgent, ${overdue} overdue.`
}
