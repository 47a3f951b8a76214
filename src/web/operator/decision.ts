/** The form that decides a case. */
import { html } from 'hono/html'
import { english } from '../messages/english.ts'
import type { Page } from '../pages/page.ts'
import type { CaseFacts } from './case-facts.ts'
import { type AdminContext, formToken } from './page.ts'
import { categoryName } from './words.ts'

export function decisionForm(ctx: AdminContext, { id, found, image, others, doubles }: CaseFacts): Page {
  const isHeld = image.state === 'held' || image.state === 'withheld'
  const isNothing = image.state === 'absent' || image.state === 'deleted'
  return html`<section aria-labelledby="decision"><h2 id="decision">The decision</h2>
<form class="decision" method="post" action="/cases/${id}">${formToken(ctx)}
${grounds(found !== null)}
${doubles.length === 0 ? '' : check('same-bytes', `and the ${doubles.length} other reported ${doubles.length === 1 ? 'image' : 'images'} of the same bytes`, true)}
${!others ? '' : check('same-uploader', `and the ${others === 1 ? 'other one' : `${others} others`} of the uploader`, false)}
${others === null ? '' : check('same-network', 'and all from its network in the two days', false)}
<p class="actions">
${found === null ? '' : act('keep', 'Keep', 'y')}
${isHeld ? act('release', 'Release') : isNothing ? '' : act('hold', 'Hold', 'h')}
${
  isNothing
    ? ''
    : html`${act('remove', 'Remove', 'r')}
${act('remove-and-block', 'Remove and block', 'b')}`
}
</p>
<p class="soft">A decision can be undone for 10 seconds. Hold and remove take the picture out of sight at once. The public learns the rule of a removal if you choose one, never the reason.</p>
</form></section>`
}

/**
 * The rule of a removal, which the public is told, and the reason, which it is not. The rule is never filled in from a report:
 * what somebody claims would become the verdict.
 */
export function grounds(isReported: boolean): Page {
  return html`<p class="field"><label for="rule">Rule</label><input id="rule" name="rule" list="rules" maxlength="40" pattern="[a-z][a-z0-9\\-]*" autocomplete="off"></p>
<datalist id="rules">${Object.keys(english.report.categories).map((each) => html`<option value="${each}">${categoryName(each)}</option>`)}</datalist>
<p class="field"><label for="reason">Reason</label><input id="reason" name="reason" required maxlength="1000" value="${isReported ? 'as reported' : ''}" autocomplete="off"></p>`
}

export function act(name: string, label: string, key?: string): Page {
  const keyed = key === undefined ? '' : html` data-key="${key}" aria-keyshortcuts="${key}"`
  const kind = name.startsWith('remove') ? 'danger' : 'quiet'
  return html`<button class="button ${kind}" name="act" value="${name}"${keyed}>${label}${key === undefined ? '' : html` <kbd>${key}</kbd>`}</button>`
}

function check(name: string, label: string, isChecked: boolean): Page {
  return html`<p><label class="confirm"><input type="checkbox" name="${name}" value="on"${isChecked ? html` checked` : ''}><span>${label}</span></label></p>`
}
