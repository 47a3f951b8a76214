/** Pages about the operator: terms, transparency, and how to report a hole. */
import { Refusal } from '../../errors.ts'
import { DAY_MS } from '../../service/utc-day.ts'
import { contactUri } from '../../web/pages/page.ts'
import { transparencyPage } from '../../web/pages.ts'
import type { AppContext, AppParts } from '../context.ts'
import { contextOf, sendCompressed } from './pages.ts'

/** RFC 9116, 2.5.5: less than a year is recommended. */
const SECURITY_DAYS = 180

export async function transparency(c: AppContext, parts: AppParts): Promise<Response> {
  const totals = await parts.reports.totals()
  return sendCompressed(c, transparencyPage(contextOf(c, parts), totals))
}

/** The part of the terms that says it. */
export function partOfTerms(c: AppContext, parts: AppParts, part: 'rules' | 'contact'): Response {
  return c.redirect(`${parts.baseUrl}/terms#${part}`, 307)
}

/** GET /.well-known/security.txt (RFC 9116). */
export function securityTxt(c: AppContext, parts: AppParts): Response {
  const contact = parts.site.facts.operator?.contact
  const address = contact === undefined ? null : contactUri(contact)
  // RFC 9116, 2.5.3: a page must be https.
  if (address === null || address.startsWith('http:'))
    throw new Refusal('not-found', 'The operator has given no address to write to.')
  // The same all day long.
  const expires = new Date((Math.floor(Date.now() / DAY_MS) + SECURITY_DAYS) * DAY_MS)
  const lines = [
    `Contact: ${address}`,
    `Expires: ${expires.toISOString()}`,
    'Preferred-Languages: en, de, fr',
    `Canonical: ${parts.baseUrl}/.well-known/security.txt`,
  ]
  return c.body(`${lines.join('\n')}\n`, 200, { 'Content-Type': 'text/plain; charset=utf-8' })
}
