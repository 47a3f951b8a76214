/** A text to take along: a field to select from, and a button that copies it where scripts run. */
import { html } from 'hono/html'
import type { Messages } from '../messages/messages.ts'
import { fill } from '../messages/wording.ts'
import type { Page } from './page.ts'

export function copyField(
  { viewer }: Messages,
  field: { id: string; label: string; value: string; isLink?: boolean; hidesLabel?: boolean },
): Page {
  return html`<div class="copy-field">
<label for="${field.id}"${field.hidesLabel ? html` class="visually-hidden"` : ''}>${field.label}</label>
<input id="${field.id}" type="text" dir="ltr"${field.isLink ? html` class="ends"` : ''} value="${field.value}" readonly spellcheck="false" autocomplete="off">
<button type="button" class="button quiet" data-copy="${field.id}" aria-label="${fill(viewer.copyWhat, { what: field.label })}" hidden>${viewer.copy}</button>
</div>`
}
