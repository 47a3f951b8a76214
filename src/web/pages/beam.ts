/** The light on its way through the hole, across the whole width of the page. */
import { html } from 'hono/html'
import type { Page } from './page.ts'

export function beam(): Page {
  return drawing('M0 22 100 50 0 78ZM200 0 100 50l100 50Z')
}

/** The same, but nothing comes through. */
export function coveredBeam(): Page {
  return drawing('M0 22 100 50 0 78Z')
}

function drawing(path: string): Page {
  return html`<div class="beam" aria-hidden="true"><svg viewBox="0 0 200 100" preserveAspectRatio="none" focusable="false"><path d="${path}"/></svg><span class="hole"></span></div>`
}
