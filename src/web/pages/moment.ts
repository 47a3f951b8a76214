import { html } from 'hono/html'
import type { Page, PageContext } from './page.ts'

/** A time in the reader's words, in UTC: where they are is not known here. `time`: ISO 8601. */
export function momentOf({ locale }: PageContext, time: string): Page {
  const text = new Intl.DateTimeFormat(locale, {
    dateStyle: 'long',
    timeStyle: 'short',
    timeZone: 'UTC',
  }).format(new Date(time))
  return html`<time datetime="${time}">${text} UTC</time>`
}
