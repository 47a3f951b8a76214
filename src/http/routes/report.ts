/** GET and POST /report, POST /api/report, GET /receipt/<secret>: what people report, and what became of it. */
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { Refusal } from '../../errors.ts'
import { jsonObject } from '../../json.ts'
import { PROBLEMS } from '../../problems.ts'
import { ID_PATTERN, receiptPath } from '../../protocol.ts'
import { CATEGORIES } from '../../service/moderation/report-categories.ts'
import { type GivenReport, unknownImage } from '../../service/moderation/reports.ts'
import type { ClientAddress } from '../../service/quota/quota.ts'
import { receiptPage, reportPage } from '../../web/pages.ts'
import { readForm, readText } from '../body.ts'
import type { AppContext, AppParts } from '../context.ts'
import { clientAddress } from '../headers/client-address.ts'
import { NO_STORE } from '../headers/common.ts'
import { prefersHtml } from '../headers/negotiate.ts'
import { contextOf, sendCompressed, unkept } from './pages.ts'

/** Text of 2,000 characters, each of which a form may write as 12 bytes. Unit: bytes. */
export const REPORT_MAX_BYTES = 32 * 1024

/** The form, without an id or with one that names an image. */
export async function askReport(c: AppContext, parts: AppParts): Promise<Response> {
  const id = c.req.query('id') ?? ''
  const context = contextOf(c, parts)
  const image = ID_PATTERN.test(id) ? `${parts.baseUrl}/${id}` : ''
  const isKnown = id === '' || (image !== '' && (await parts.reports.isKnown(id)))
  if (isKnown) return sendCompressed(c, reportPage(context, CATEGORIES, { image }))
  return sendAgain(c, parts, unknownImage(), { image })
}

/** The form, without a script. */
export async function reportByForm(c: AppContext, parts: AppParts): Promise<Response> {
  parts.origins.assertAllowed((name) => c.req.header(name))
  const form = await readForm(c, REPORT_MAX_BYTES)
  const given = givenOf((name) => form.get(name) ?? '', form.has('good-faith'))
  let receipt: string
  try {
    receipt = await parts.reports.file(given, clientOf(c, parts))
  } catch (error) {
    if (!(error instanceof Refusal) || !prefersHtml(c.req.header('Accept'))) throw error
    return sendAgain(c, parts, error, given)
  }
  return c.body(null, 303, { Location: parts.baseUrl + receiptPath(receipt), 'Cache-Control': NO_STORE })
}

/** The same in JSON. */
export async function reportByProgram(c: AppContext, parts: AppParts): Promise<Response> {
  parts.origins.assertAllowed((name) => c.req.header(name))
  const receipt = await parts.reports.file(givenIn(await readText(c, REPORT_MAX_BYTES)), clientOf(c, parts))
  const address = parts.baseUrl + receiptPath(receipt)
  return c.json({ receipt: address }, 202, { Location: address })
}

export async function showReceipt(c: AppContext, parts: AppParts): Promise<Response> {
  const receipt = await parts.reports.receipt(c.req.param('secret') ?? '')
  if (receipt === null) throw new Refusal('not-found', 'There is no such receipt.')
  const { category, at, state, decidedAt } = receipt
  if (!prefersHtml(c.req.header('Accept'))) {
    const decided = decidedAt === null ? null : new Date(decidedAt).toISOString()
    return c.json({ category, reported: new Date(at).toISOString(), state, decided })
  }
  return unkept(await sendCompressed(c, receiptPage(contextOf(c, parts), receipt)))
}

/** The form as it was filled in, with what is wrong with it. Nothing is lost, and no cache keeps it. */
async function sendAgain(
  c: AppContext,
  parts: AppParts,
  refusal: Refusal,
  given: Partial<GivenReport>,
): Promise<Response> {
  const { code, detail, retryAfterSeconds } = refusal
  if (retryAfterSeconds !== undefined) c.header('Retry-After', `${retryAfterSeconds}`)
  const context = contextOf(c, parts)
  const status = PROBLEMS[code].status as ContentfulStatusCode
  return unkept(await sendCompressed(c, reportPage(context, CATEGORIES, given, { code, detail }), status))
}

function clientOf(c: AppContext, parts: AppParts): ClientAddress {
  return clientAddress(c.env.peer, c.req.header('X-Forwarded-For'), parts.trusted)
}

function givenIn(text: string): GivenReport {
  const value = jsonObject(text)
  if (value === null) throw new Refusal('bad-report', 'The body is not a JSON object.')
  return givenOf((name) => (typeof value[name] === 'string' ? value[name] : ''), value.goodFaith === true)
}

/** `field`: by the name that form and JSON share. */
function givenOf(field: (name: string) => string, isInGoodFaith: boolean): GivenReport {
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
