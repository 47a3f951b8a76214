/** Terms shortcuts, the transparency page and security.txt. */
import { Refusal } from '../../errors.ts'
import { DAY_MS } from '../../utc-day.ts'
import { contactUri } from '../../web/pages/page.ts'
import { transparencyPage } from '../../web/pages/transparency.ts'
import type { AppContext, AppParts } from '../context.ts'
import { contextOf, sendCompressed } from './pages.ts'

/** Validity of security.txt. RFC 9116, 2.5.5 recommends less than a year. Unit: days. */
const SECURITY_DAYS = 180

export async function transparency(c: AppContext, parts: AppParts): Promise<Response> {
  const totals = await parts.reports.totals()
  return sendCompressed(c, transparencyPage(contextOf(c, parts), totals))
}

/** Redirects to a section of the terms. */
export function redirectToTerms(c: AppContext, parts: AppParts, part: 'rules' | 'contact'): Response {
  return c.redirect(`${parts.baseUrl}/terms#${part}`, 307)
}

/** GET /.well-known/security.txt (RFC 9116). */
export function securityTxt(c: AppContext, parts: AppParts): Response {
  const contact = parts.site.facts.operator?.contact
  const address = contact === undefined ? null : contactUri(contact)
  // RFC 9116, 2.5.3: a web URI must be https.
  if (address === null || address.startsWith('http:'))
    throw new Refusal('not-found', 'The operator has not published a contact address.')
  // Rounded to whole days, so that the file changes once a day.
  const expires = new Date((Math.floor(Date.now() / DAY_MS) + SECURITY_DAYS) * DAY_MS)
  const lines = [
    `Contact: ${address}`,
    `Expires: ${expires.toISOString()}`,
    'Preferred-Languages: en, de, fr',
    `Canonical: ${parts.baseUrl}/.well-known/security.txt`,
  ]
  return c.body(`${lines.join('\n')}\n`, 200, { 'Content-Type': 'text/plain; charset=utf-8' })
}
