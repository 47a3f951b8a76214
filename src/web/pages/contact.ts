/** How to reach the operator, as they wrote it. */
import { html } from 'hono/html'
import type { Page } from './page.ts'

/** A page's address, or one of mail as a URI. `null` for words. */
export function contactUri(contact: string): string | null {
  if (/^https?:\/\/\S+$/i.test(contact)) return contact
  return /^[^\s@<>"]+@[^\s@<>"]+$/.test(contact) ? `mailto:${contact}` : null
}

/** An address becomes a link; anything else stays words. */
export function contactLink(contact: string): Page | string {
  const uri = contactUri(contact)
  return uri === null ? contact : html`<a href="${uri}" rel="noreferrer">${contact}</a>`
}
