/** Light through a pinhole: what is outside comes in through a dot, and opens out again behind it. */
import { html } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'

type Drawing = HtmlEscapedString | Promise<HtmlEscapedString>

/** Beside the name. */
export function mark(): Drawing {
  return html`<svg class="mark" viewBox="0 0 40 24" aria-hidden="true" focusable="false"><path class="mark-light" d="M1 7 20 12 1 17ZM39 2 20 12l19 10Z"/><circle cx="20" cy="12" r="3.5"/></svg>`
}

/** The light on its way through the hole, across the whole width of the page. */
export function beam(): Drawing {
  return acrossPage('M0 22 100 50 0 78ZM200 0 100 50l100 50Z')
}

/** The same, but nothing comes through. */
export function coveredBeam(): Drawing {
  return acrossPage('M0 22 100 50 0 78Z')
}

function acrossPage(path: string): Drawing {
  return html`<div class="beam" aria-hidden="true"><svg viewBox="0 0 200 100" preserveAspectRatio="none" focusable="false"><path d="${path}"/></svg><span class="hole"></span></div>`
}
