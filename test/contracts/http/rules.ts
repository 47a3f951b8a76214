/** Rules for all responses, for problem details and for pages. */
import assert from 'node:assert/strict'
import type { Answer } from '../../support/http.ts'

export interface CheckedRequest {
  method: string
  path: string
  /** The base URL is https. */
  https: boolean
}

const LIFETIMES = [
  'no-store',
  // Pages with a key.
  'no-store, no-transform',
  // Pages.
  'private, no-cache',
  // Documents with an ETag.
  'no-cache',
  // Images and hashed assets.
  'public, max-age=31536000, immutable',
]

/** Images that expire. */
const EXPIRING = /^public, max-age=\d+, s-maxage=\d+, must-revalidate, immutable$/

/** Directives of every page's policy. */
const PAGE_POLICY = [
  "default-src 'none'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
]

export function checkAnswer(
  { status, headers, body }: Answer,
  { method, path, https }: CheckedRequest,
): void {
  const where = `${method} ${path} → ${status}`
  assert.equal(headers.get('X-Content-Type-Options'), 'nosniff', where)
  assert.equal(headers.get('Referrer-Policy'), 'no-referrer', where)
  // A response with an ETag may come from a cache, so it has no request ID.
  if (!headers.has('ETag')) {
    assert.match(headers.get('X-Request-Id') ?? '', /^[\w-]{8,}$/, `${where}: request ID`)
  }
  assert.ok(
    LIFETIMES.includes(headers.get('Cache-Control') ?? '') ||
      EXPIRING.test(headers.get('Cache-Control') ?? ''),
    `${where}: ${headers.get('Cache-Control')}`,
  )
  if (status >= 400) {
    assert.doesNotMatch(headers.get('Cache-Control') ?? '', /^public/, `${where}: errors are not cached`)
    assert.equal(headers.get('ETag'), null, where)
  }
  assert.equal(headers.get('Set-Cookie'), null, where)
  assert.equal(headers.get('X-Powered-By'), null, where)
  const hsts = headers.get('Strict-Transport-Security')
  if (https) assert.match(hsts ?? '', /^max-age=\d{7,}/, where)
  else assert.equal(hsts, null, where)
  if (headers.get('Content-Type')?.startsWith('text/html')) {
    const policy = headers.get('Content-Security-Policy') ?? ''
    for (const directive of PAGE_POLICY)
      assert.ok(policy.split('; ').includes(directive), `${where}: ${directive}`)
    assert.doesNotMatch(policy, /'unsafe-(eval|inline)'/, where)
    assert.equal(headers.get('Cross-Origin-Opener-Policy'), 'same-origin', where)
    assert.equal(headers.get('X-Frame-Options'), 'DENY', where)
    assert.equal(headers.get('CDN-Cache-Control'), 'no-store', where)
    assert.match(headers.get('Vary') ?? '', /Accept-Language/, where)
  }
  if (method === 'HEAD' || status === 304) assert.equal(body.length, 0, where)
  // Includes CORS preflights.
  if (['/api/upload', '/share'].includes(path.split('?')[0]!)) checkUploadAnswer(status, headers, where)
  else assert.equal(headers.get('X-RateLimit-Limit'), null, where)
}

function checkUploadAnswer(status: number, headers: Headers, where: string): void {
  assert.match(headers.get('X-RateLimit-Limit') ?? '', /^\d+$/, `${where}: X-RateLimit-Limit`)
  assert.match(headers.get('X-RateLimit-Remaining') ?? '', /^\d+$/, `${where}: X-RateLimit-Remaining`)
  const [limit, remaining] = ['Limit', 'Remaining'].map((name) => headers.get(`X-RateLimit-${name}`))
  assert.equal(headers.get('RateLimit-Policy'), `"uploads";q=${limit};w=86400`, where)
  const [, left, seconds] = /^"uploads";r=(\d+);t=(\d+)$/.exec(headers.get('RateLimit') ?? '') ?? []
  assert.equal(left, remaining, `${where}: RateLimit agrees with X-RateLimit-Remaining`)
  assert.ok(Number(seconds) >= 1 && Number(seconds) <= 86_400, `${where}: ${headers.get('RateLimit')}`)
  const retryAfter = headers.get('Retry-After')
  if (status === 429) assert.match(retryAfter ?? '', /^[1-9]\d*$/, `${where}: Retry-After`)
  else assert.equal(retryAfter, null, `${where}: Retry-After`)
}

/** Temporary errors, which have `retryAfter`. */
const TEMPORARY = new Set(['busy', 'unavailable', 'capacity-reached'])

/** Asserts that the response is problem details (RFC 9457) with the status and code. */
export function checkProblem(answer: Answer, status: number, error: string | RegExp): void {
  assert.equal(answer.status, status, answer.text)
  assert.equal(answer.headers.get('Content-Type')?.split(';')[0], 'application/problem+json')
  const problem = answer.json()
  const { success, retryAfter, challenge, ...members } = problem
  assert.deepEqual(Object.keys(members).sort(), ['detail', 'error', 'status', 'title', 'type'])
  assert.ok(success === undefined || success === false)
  assert.equal(challenge !== undefined, problem.error === 'challenge-required')
  const header = answer.headers.get('Retry-After')
  if (header !== null) assert.equal(`${retryAfter}`, header, 'retryAfter agrees with the Retry-After header')
  else if (TEMPORARY.has(problem.error))
    assert.ok(Number.isInteger(retryAfter) && retryAfter >= 1, `${retryAfter}`)
  else assert.equal(retryAfter, undefined)
  assert.equal(problem.status, status)
  assert.match(problem.error, /^[a-z]+(-[a-z]+)*$/)
  if (error instanceof RegExp) assert.match(problem.error, error)
  else assert.equal(problem.error, error)
  for (const member of ['type', 'title', 'detail']) {
    assert.equal(typeof problem[member], 'string', member)
    assert.notEqual(problem[member], '', member)
  }
  assert.ok(URL.canParse(problem.type, 'https://any.example/'), problem.type)
}

/** Asserts that the response is a page with the status. */
export function checkPage(answer: Answer, status: number): void {
  const [, title] = /<title>([^<]+)/.exec(answer.text) ?? []
  assert.equal(answer.status, status, `${answer.status} in place of ${status}: ${title ?? answer.text}`)
  assert.match(answer.headers.get('Content-Type') ?? '', /^text\/html; ?charset=utf-8$/i)
  assert.match(answer.text, /^<!doctype html>/i)
  assert.match(answer.text, /<html lang="\w+"/)
  assert.match(answer.text, /<title>[^<]+<\/title>/)
}
