/** Light through a pinhole: what is outside comes in through a dot, and opens out again behind it. */
import { html } from 'hono/html'
import type { Page } from './page.ts'

export function mark(): Page {
  return html`<svg class="mark" viewBox="0 0 40 24" aria-hidden="true" focusable="false"><path class="mark-light" d="M1 7 20 12 1 17ZM39 2 20 12l19 10Z"/><circle cx="20" cy="12" r="3.5"/></svg>`
}
