/** POST /api/upload */
import type { MiddlewareHandler } from 'hono'
import { Refusal } from '../errors.ts'
import {
  DELETE_PATH,
  RATE_LIMIT_HEADER,
  RATE_REMAINING_HEADER,
  type UploadAnswer,
  viewPath,
} from '../protocol.ts'
import { refuseFault } from '../service/faults.ts'
import { resultPage } from '../web/pages.ts'
import { clientAddress, quotaAddress } from './client-address.ts'
import type { AppContext, AppEnv, AppParts } from './context.ts'
import { filePart } from './multipart.ts'
import { representationFor } from './negotiate.ts'
import { sendPage } from './pages.ts'

function addressOf(c: AppContext, parts: AppParts): string {
  const peer = c.env?.peer ?? ''
  return quotaAddress(clientAddress(peer, c.req.header('X-Forwarded-For'), parts.trusted))
}

/** Rate limit and CORS headers: on every answer of the endpoint, refusals included. */
export function uploadHeaders(parts: AppParts): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    await next()
    const known = c.get('remaining')
    // A ledger that does not answer takes no upload either.
    const remaining = known ?? (await parts.quota.remaining(addressOf(c, parts)).catch(() => 0))
    c.res.headers.set(RATE_LIMIT_HEADER, `${parts.quota.limit}`)
    c.res.headers.set(RATE_REMAINING_HEADER, `${remaining}`)
    if (c.res.status === 429) c.res.headers.set('Retry-After', `${parts.quota.secondsToReset()}`)
    for (const [name, value] of Object.entries(parts.origins.corsHeaders(c.req.header('Origin')))) {
      c.res.headers.set(name, value)
    }
  }
}

export async function upload(c: AppContext, parts: AppParts): Promise<Response> {
  parts.origins.assertAllowed(c.req.raw.headers)
  if (parts.uploadsPaused) {
    throw new Refusal('uploads-paused', 'The operator of this server paused uploads. Please try again later.')
  }
  const place = await parts.quota.reserve(addressOf(c, parts)).catch(refuseFault)
  if (place === null) {
    c.set('remaining', 0)
    throw new Refusal(
      'quota-exceeded',
      `This address made its ${parts.quota.limit} uploads of today. The counter resets at midnight UTC.`,
    )
  }
  c.set('remaining', place.remaining)
  try {
    const body = c.env?.body ?? c.req.raw.body ?? []
    const file = filePart(c.req.header('Content-Type'), body)
    const published = await parts.images.publish(file, bodyLength(c))
    const { id, type, size } = published.record
    parts.log.info({ requestId: c.get('requestId'), id, type, size }, 'image stored')
    return answer(c, parts, { id, key: published.key, remaining: place.remaining })
  } catch (error) {
    c.set('remaining', Math.min(parts.quota.limit, place.remaining + 1))
    await place.release().catch((cause) => parts.log.error({ err: cause }, 'a place was not given back'))
    throw error
  }
}

/** Unit: bytes. `undefined` for a body in chunks. */
function bodyLength(c: AppContext): number | undefined {
  const length = c.req.header('Content-Length')
  return length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : undefined
}

async function answer(
  c: AppContext,
  parts: AppParts,
  { id, key, remaining }: { id: string; key: string; remaining: number },
): Promise<Response> {
  const link = parts.baseUrl + viewPath(id)
  const answer: UploadAnswer = { id, link, key, delete: `${parts.baseUrl}${DELETE_PATH}?key=${key}` }
  c.header('Location', link)
  c.header('Vary', 'Accept')
  switch (representationFor(c.req.header('Accept'))) {
    case 'html': {
      const page = await sendPage(
        c,
        resultPage(parts.site.context(c.req.header('Accept-Language')), { answer, remaining }),
        201,
      )
      page.headers.set('Cache-Control', 'no-store')
      return page
    }
    case 'text':
      return c.text(`${link}\n`, 201)
    case 'json':
      return c.json(answer, 201)
  }
}
