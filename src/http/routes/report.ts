/** GET and POST /report, POST /api/report, GET /receipt/<secret>: filing a report and following its state. */
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { Refusal } from '../../errors.ts'
import { parseJsonObject } from '../../json.ts'
import { PROBLEMS } from '../../problems.ts'
import { ID_PATTERN, receiptPath } from '../../protocol.ts'
import { CATEGORIES } from '../../service/moderation/report-categories.ts'
import { type ReportForm, unknownImage } from '../../service/moderation/reports.ts'
import type { ClientAddress } from '../../service/quota/quota.ts'
import { receiptPage, reportPage } from '../../web/pages/report.ts'
import { readForm, readText } from '../body.ts'
import type { AppContext, AppParts } from '../context.ts'
import { clientAddress } from '../headers/client-address.ts'
import { NO_STORE } from '../headers/common.ts'
import { prefersHtml } from '../headers/negotiate.ts'
import { contextOf, sendCompressed, uncached } from './pages.ts'

/** Fits 2,000 characters of text, each of which may take 12 bytes in a form. Unit: bytes. */
const REPORT_MAX_BYTES = 32 * 1024

/** Shows the form, prefilled if `id` names an image. */
export async function showReportForm(c: AppContext, parts: AppParts): Promise<Response> {
  const id = c.req.query('id') ?? ''
  const context = contextOf(c, parts)
  const image = ID_PATTERN.test(id) ? `${parts.baseUrl}/${id}` : ''
  const isKnown = id === '' || (image !== '' && (await parts.reports.isKnown(id)))
  if (isKnown) return sendCompressed(c, reportPage(context, CATEGORIES, { image }))
  return resendForm(c, parts, unknownImage(), { image })
}

/** Handles the HTML form. Works without scripts. */
export async function reportByForm(c: AppContext, parts: AppParts): Promise<Response> {
  parts.origins.assertAllowed((name) => c.req.header(name))
  const form = await readForm(c, REPORT_MAX_BYTES)
  const values = reportFrom((name) => form.get(name) ?? '', form.has('good-faith'))
  let receipt: string
  try {
    receipt = await parts.reports.file(values, addressOf(c, parts))
  } catch (error) {
    if (!(error instanceof Refusal) || !prefersHtml(c.req.header('Accept'))) throw error
    return resendForm(c, parts, error, values)
  }
  // Relative: the page's policy forbids a redirect to another host, and it may be open at another name than the base URL's.
  return c.body(null, 303, { Location: receiptPath(receipt), 'Cache-Control': NO_STORE })
}

/** The JSON API. */
export async function reportByJson(c: AppContext, parts: AppParts): Promise<Response> {
  parts.origins.assertAllowed((name) => c.req.header(name))
  const receipt = await parts.reports.file(
    parseReport(await readText(c, REPORT_MAX_BYTES)),
    addressOf(c, parts),
  )
  const address = parts.baseUrl + receiptPath(receipt)
  return c.json({ receipt: address }, 202, { Location: address })
}

export async function showReceipt(c: AppContext, parts: AppParts): Promise<Response> {
  const receipt = await parts.reports.receipt(c.req.param('secret') ?? '')
  if (receipt === null) throw new Refusal('not-found', 'This receipt does not exist.')
  const { category, at, state, decidedAt } = receipt
  if (!prefersHtml(c.req.header('Accept'))) {
    const decided = decidedAt === null ? null : new Date(decidedAt).toISOString()
    return c.json({ category, reported: new Date(at).toISOString(), state, decided })
  }
  return uncached(await sendCompressed(c, receiptPage(contextOf(c, parts), receipt)))
}

/** Shows the form again with its values and the error. Not cached. */
async function resendForm(
  c: AppContext,
  parts: AppParts,
  refusal: Refusal,
  values: Partial<ReportForm>,
): Promise<Response> {
  const { retryAfterSeconds } = refusal
  if (retryAfterSeconds !== undefined) c.header('Retry-After', `${retryAfterSeconds}`)
  const context = contextOf(c, parts)
  const status = PROBLEMS[refusal.code].status as ContentfulStatusCode
  return uncached(await sendCompressed(c, reportPage(context, CATEGORIES, values, refusal), status))
}

function addressOf(c: AppContext, parts: AppParts): ClientAddress {
  return clientAddress(c.env.peer, c.req.header('X-Forwarded-For'), parts.trusted)
}

function parseReport(text: string): ReportForm {
  const value = parseJsonObject(text)
  if (value === null) throw new Refusal('bad-report', 'The body is not a JSON object.')
  return reportFrom((name) => (typeof value[name] === 'string' ? value[name] : ''), value.goodFaith === true)
}

/** `field`: looks up a value by the name that the form and JSON share. */
function reportFrom(field: (name: string) => string, isInGoodFaith: boolean): ReportForm {
  return {
    image: field('image'),
    category: field('category'),
    text: field('text'),
    name: field('name'),
    email: field('email'),
    signature: field('signature'),
    isInGoodFaith,
  }
}
