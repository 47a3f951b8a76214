/** The light on its way through the hole, across the whole width of the page. */
import { html } from 'hono/html'
import type { Page } from './page.ts'

export function beam(): Page {
  return html`<div class="beam" aria-hidden="true"><svg viewBox="0 0 200 100" preserveAspectRatio="none" focusable="false"><path d="M0 22 100 50 0 78ZM200 0 100 50l100 50Z"/></svg><span class="hole"></span></div>`
}
