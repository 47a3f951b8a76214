/** POST /api/upload */
import type { MiddlewareHandler } from 'hono'
import { Refusal } from '../../errors.ts'
import {
  DELETE_PATH,
  RATE_LIMIT_HEADER,
  RATE_REMAINING_HEADER,
  type UploadAnswer,
  viewPath,
} from '../../protocol.ts'
import { refuseFault } from '../../service/faults.ts'
import { resultPage } from '../../web/pages.ts'
import { type Answer, problemAnswer, responseOf, textAnswer } from '../answer.ts'
import type { AppContext, AppEnv, AppParts } from '../context.ts'
import { clientAddress, quotaAddress } from '../headers/client-address.ts'
import { commonHeaders } from '../headers/common.ts'
import { representationFor } from '../headers/negotiate.ts'
import { filePart } from '../multipart/multipart.ts'
import { logFault, toProblem } from '../problem.ts'
import { sendPage } from './pages.ts'

export interface UploadRequest {
  /** The address of the socket's peer. */
  peer: string
  /** By name in lower case. */
  header(name: string): string | undefined
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>
  requestId: string
}

type Parts = Pick<AppParts, 'baseUrl' | 'uploadsPaused' | 'images' | 'quota' | 'origins' | 'trusted' | 'log'>

/** `remaining`: uploads left today, if that was found out. */
type Outcome = { remaining?: number } & ({ answer: UploadAnswer } | { error: unknown })

/** Takes an upload from whoever may send it. Never rejects. */
async function receive(request: UploadRequest, parts: Parts): Promise<Outcome> {
  const { quota, uploadsPaused, log, baseUrl } = parts
  try {
    parts.origins.assertAllowed(request.header)
    if (uploadsPaused) {
      throw new Refusal(
        'uploads-paused',
        'The operator of this server paused uploads. Please try again later.',
      )
    }
    const reservation = await quota.reserve(addressOf(request, parts)).catch(refuseFault)
    if (reservation === null) return { remaining: 0, error: quotaExceeded(quota.limit) }
    const { remaining } = reservation
    try {
      const file = filePart(request.header('content-type'), request.body)
      const { record, key } = await parts.images.publish(file, bodyLength(request))
      const { id, type, size } = record
      log.info({ requestId: request.requestId, id, type, size }, 'image stored')
      const link = baseUrl + viewPath(id)
      return { remaining, answer: { id, link, key, delete: `${baseUrl}${DELETE_PATH}?key=${key}` } }
    } catch (error) {
      await reservation
        .release()
        .catch((cause) => log.error({ err: cause }, 'a reservation was not given back'))
      return { remaining: Math.min(quota.limit, remaining + 1), error }
    }
  } catch (error) {
    return { error }
  }
}

function addressOf({ peer, header }: UploadRequest, { trusted }: Pick<Parts, 'trusted'>): string {
  return quotaAddress(clientAddress(peer, header('x-forwarded-for'), trusted))
}

function quotaExceeded(limit: number): Refusal {
  return new Refusal(
    'quota-exceeded',
    `This address made its ${limit} uploads of today. The counter resets at midnight UTC.`,
  )
}

/** Unit: bytes. `undefined` for a body in chunks. */
function bodyLength({ header }: UploadRequest): number | undefined {
  const length = header('content-length')
  return length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : undefined
}

/**
 * The upload for programs, in no framework's language: what one costs the server is written to its socket at once.
 * Never rejects. `null` for clients that want a page.
 */
export type UploadForPrograms = (request: UploadRequest) => Promise<Answer> | null

export function createUploadForPrograms(parts: Parts): UploadForPrograms {
  const common = commonHeaders(parts.baseUrl).flat()

  async function answer(request: UploadRequest, isText: boolean): Promise<Answer> {
    const { requestId } = request
    const outcome = await receive(request, parts)
    if ('answer' in outcome) {
      const { link } = outcome.answer
      const more = [
        'Location',
        link,
        ...(await limitHeaders(request, 201, parts, outcome.remaining)),
        ...common,
      ]
      if (isText) return textAnswer(201, 'text/plain; charset=UTF-8', `${link}\n`, requestId, more)
      return textAnswer(201, 'application/json', JSON.stringify(outcome.answer), requestId, more)
    }
    logFault(parts.log, outcome.error, requestId)
    const told = toProblem(outcome.error)
    const limits = await limitHeaders(request, told.status, parts, outcome.remaining)
    return problemAnswer(told, requestId, [...limits, ...common])
  }

  return (request) => {
    const representation = representationFor(request.header('accept'))
    return representation === 'html' ? null : answer(request, representation === 'text')
  }
}

/** Rate limit, CORS and `Vary`: on every answer of the endpoint, refusals included. Name, value, name, value, … */
async function limitHeaders(
  request: UploadRequest,
  status: number,
  parts: Parts,
  known: number | undefined,
): Promise<string[]> {
  // A ledger that does not answer takes no upload either.
  const remaining = known ?? (await parts.quota.remaining(addressOf(request, parts)).catch(() => 0))
  const headers = [RATE_LIMIT_HEADER, `${parts.quota.limit}`, RATE_REMAINING_HEADER, `${remaining}`]
  if (status === 429) headers.push('Retry-After', `${parts.quota.secondsToReset()}`)
  const { Vary, ...cors } = parts.origins.corsHeaders(request.header('origin'))
  headers.push('Vary', Vary === undefined ? 'Accept' : `Accept, ${Vary}`)
  for (const [name, value] of Object.entries(cors)) headers.push(name, value)
  return headers
}

/** The same headers where the framework sends the answer. */
export function uploadHeaders(parts: AppParts): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    await next()
    if (c.res.headers.has(RATE_REMAINING_HEADER)) return
    const headers = await limitHeaders(requestOf(c), c.res.status, parts, c.get('remaining'))
    for (let i = 0; i < headers.length; i += 2) c.res.headers.set(headers[i], headers[i + 1])
  }
}

function requestOf(c: AppContext): UploadRequest {
  return {
    peer: c.env?.peer ?? '',
    header: (name) => c.req.header(name),
    body: c.env?.body ?? c.req.raw.body ?? [],
    requestId: c.get('requestId'),
  }
}

/** Where a host hands all requests to the framework, and for those who want a page. */
export async function upload(
  c: AppContext,
  parts: AppParts,
  forPrograms: UploadForPrograms,
): Promise<Response> {
  const request = requestOf(c)
  const answer = forPrograms(request)
  if (answer !== null) return responseOf(await answer)
  const outcome = await receive(request, parts)
  if (outcome.remaining !== undefined) c.set('remaining', outcome.remaining)
  if ('error' in outcome) throw outcome.error
  c.header('Location', outcome.answer.link)
  const context = parts.site.context(c.req.header('Accept-Language'))
  const page = await sendPage(
    c,
    resultPage(context, { answer: outcome.answer, remaining: outcome.remaining! }),
    201,
  )
  page.headers.set('Cache-Control', 'no-store')
  return page
}
