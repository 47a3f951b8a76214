/**
 * The web layer's routing table. Uploads (`routes/upload.ts`) and image bytes (`routes/raw.ts`) bypass it: the host
 * handles them without the framework.
 */
import type { Handler } from 'hono'
import { HonoBase as Hono } from 'hono/hono-base'
import { TrieRouter } from 'hono/router/trie-router'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { Refusal } from '../errors.ts'
import { PROBLEM_TYPE } from '../problems.ts'
import {
  AGENTS_PATH,
  API_CATALOG_PATH,
  API_DOCUMENT_PATH,
  API_PAGE_PATH,
  CHALLENGE_PATH,
  DELETE_PATH,
  EXPIRES_PARAMETER,
  OEMBED_PATH,
  PASS_PAGE_PATH,
  PASS_PATH,
  REPORT_PAGE_PATH,
  REPORT_PATH,
  REQUEST_ID_HEADER,
  ROBOTS_PATH,
  receiptPath,
  SCRIPT_PATH,
  SHAREX_PATH,
  TOOLS_PATH,
} from '../protocol.ts'
import { lifetimeFor } from '../service/images/expiry.ts'
import { agentGuide, sharexConfig, uploadScript } from '../web/integrations.ts'
import { limitSize } from '../web/messages/wording.ts'
import type { AppContext, AppEnv, AppParts } from './context.ts'
import { commonHeaders, NO_STORE } from './headers/common.ts'
import { prefersHtml } from './headers/negotiate.ts'
import { logFault, toProblem } from './problem.ts'
import { createDescriptions } from './routes/api.ts'
import { sendAsset } from './routes/assets.ts'
import { issuePass, sendChallenge, sendPassPage } from './routes/challenge.ts'
import { remove } from './routes/delete.ts'
import { redirectToTerms, securityTxt, transparency } from './routes/notices.ts'
import { oembed } from './routes/oembed.ts'
import {
  confirmDeletion,
  deleteByForm,
  gallery,
  home,
  problemPage,
  terms,
  tools,
  viewer,
} from './routes/pages.ts'
import { reportByForm, reportByJson, showReceipt, showReportForm } from './routes/report.ts'

/** Pages and images carry their own `noindex`, which a crawler could not see if it were disallowed here. */
const ROBOTS = 'User-agent: *\nDisallow: /api/\n'

/** Paths that crawlers and browsers probe on every site. Errors there are never HTML pages. */
const PROBED_PATHS = /^\/\.well-known\/|\.\w+$/

const ID_PATH = '/:id{[0-9A-Za-z]{11}}'
const SECURITY_PATH = '/.well-known/security.txt'
const IMAGE_PATHS = ['/raw/:name', '/preview/:name']
const RECEIPT_PATH = receiptPath(':secret')

/** The returned app's `fetch` never rejects: errors become pages or problem details. */
export function createApp(parts: AppParts): Hono<AppEnv> {
  // Hono's default tries a larger router first, which does not support these routes.
  const app = new Hono<AppEnv>({ router: new TrieRouter() })
  const common = commonHeaders(parts.baseUrl)
  const descriptions = createDescriptions(parts)
  /** Defines a route for GET and HEAD only. */
  const read = (path: string, handle: Handler<AppEnv>) =>
    app.get(path, handle).all(path, allowOnly('GET, HEAD'))

  app.use(async (c, next) => {
    c.set('requestId', crypto.randomUUID())
    await next()
    for (const [name, value] of common) c.res.headers.set(name, value)
    if (!c.res.headers.has('Cache-Control')) c.res.headers.set('Cache-Control', NO_STORE)
    // Not with a query: it may contain a deletion key.
    const isPage = c.res.ok && c.res.headers.get('Content-Type')?.startsWith('text/html')
    if (parts.onionUrl && isPage && /^[!-~]+$/.test(c.env.target) && !c.env.target.includes('?')) {
      c.res.headers.set('Onion-Location', parts.onionUrl + c.env.target)
    }
    if (!c.res.headers.has('ETag')) c.res.headers.set(REQUEST_ID_HEADER, c.get('requestId'))
  })

  // `/x/../raw/<id>` and `/%72aw/<id>` would be aliases of an image, and extra copies in caches.
  app.use((c, next) => (isCanonical(c) ? next() : Promise.resolve(c.notFound())))

  app.use(DELETE_PATH, corsHeaders(parts))
  app.get(DELETE_PATH, (c) => confirmDeletion(c, parts))
  app.delete(DELETE_PATH, (c) => remove(c, parts))
  app.options(DELETE_PATH, (c) => c.body(null, 204, { Allow: 'GET, HEAD, DELETE, OPTIONS' }))
  app.all(DELETE_PATH, allowOnly('GET, HEAD, DELETE, OPTIONS'))

  // The host has already handled every valid image path.
  for (const path of IMAGE_PATHS) read(path, (c) => c.notFound())

  read('/', (c) => home(c, parts))
  read('/terms', (c) => terms(c, parts))
  read('/g', (c) => gallery(c, parts))
  app.post('/delete', (c) => deleteByForm(c, parts))
  app.all('/delete', allowOnly('POST'))
  read(API_PAGE_PATH, descriptions.page)
  read(API_DOCUMENT_PATH, descriptions.document)
  read(API_CATALOG_PATH, descriptions.catalog)
  read(TOOLS_PATH, (c) => tools(c, parts))
  app.get(REPORT_PAGE_PATH, (c) => showReportForm(c, parts))
  app.post(REPORT_PAGE_PATH, (c) => reportByForm(c, parts))
  app.all(REPORT_PAGE_PATH, allowOnly('GET, HEAD, POST'))
  app.post(REPORT_PATH, (c) => reportByJson(c, parts))
  app.all(REPORT_PATH, allowOnly('POST'))
  read(RECEIPT_PATH, (c) => showReceipt(c, parts))
  // 404 unless challenges are enabled.
  for (const path of [CHALLENGE_PATH, PASS_PATH, PASS_PAGE_PATH]) {
    app.use(path, (c, next) => (parts.challenges.isOffered() ? next() : Promise.resolve(c.notFound())))
  }
  app.use(CHALLENGE_PATH, corsHeaders(parts))
  read(CHALLENGE_PATH, (c) => sendChallenge(c, parts))
  app.post(PASS_PATH, (c) => issuePass(c, parts))
  app.all(PASS_PATH, allowOnly('POST'))
  read(PASS_PAGE_PATH, (c) => sendPassPage(c, parts))
  read('/rules', (c) => redirectToTerms(c, parts, 'rules'))
  read('/contact', (c) => redirectToTerms(c, parts, 'contact'))
  read('/transparency', (c) => transparency(c, parts))
  read(SECURITY_PATH, (c) => securityTxt(c, parts))
  read('/healthz', (c) => c.json({ status: 'ok' }))
  read('/readyz', createReadyz(parts))
  read(OEMBED_PATH, (c) => oembed(c, parts))
  read(ROBOTS_PATH, (c) => c.text(ROBOTS))
  read(SHAREX_PATH, (c) =>
    c.json(sharexConfig(parts.baseUrl, expiresParameter(c)), 200, {
      'Content-Disposition': 'attachment; filename="pinhole.sxcu"',
    }),
  )
  read(SCRIPT_PATH, (c) =>
    c.body(uploadScript(parts.baseUrl), 200, { 'Content-Type': 'text/x-shellscript; charset=utf-8' }),
  )
  read(AGENTS_PATH, (c) =>
    c.text(agentGuide(parts.baseUrl, limitSize('en', parts.maxUploadBytes).replaceAll('\u00a0', ' '))),
  )
  read(ID_PATH, (c) => viewer(c, parts, c.req.param('id') ?? ''))

  app.get('*', async (c, next) => (await sendAsset(c, parts.site)) ?? next())
  app.all('*', async (c, next) =>
    (await sendAsset(c, parts.site)) === null ? next() : allowOnly('GET, HEAD')(c),
  )
  app.notFound((c) => answerError(c, parts, new Refusal('not-found', 'There is nothing at this URL.')))
  app.onError((error, c) => answerError(c, parts, error))
  return app
}

/** How long the count of a long queue of purges is cached: anyone can ask, and it reads the whole queue. Unit: milliseconds. */
const PURGES_TTL_MS = 2000
/** A shorter queue is counted each time, for those who wait until it is empty. */
const MAX_COUNTED_PURGES = 1000

/** Readiness probe: 503 when a component fails. */
function createReadyz({ health }: AppParts) {
  let purges: Awaited<ReturnType<typeof health.purges>> = null
  let countedAt = -Infinity

  async function countPurges(): Promise<void> {
    const isLong = (purges?.count ?? 0) > MAX_COUNTED_PURGES
    if (isLong && performance.now() - countedAt < PURGES_TTL_MS) return
    countedAt = performance.now()
    purges = await health.purges().catch(() => null)
  }

  return async (c: AppContext): Promise<Response> => {
    const [faults] = await Promise.all([health.faults(), countPurges()])
    const isReady = Object.keys(faults).length === 0
    const pending = purges && { purgesOwed: purges.count, oldestPurgeSeconds: purges.oldestSeconds }
    return c.json({ status: isReady ? 'ok' : 'unavailable', ...faults, ...pending }, isReady ? 200 : 503)
  }
}

/** True when the path as sent has no percent-escapes and no dot segments: each resource has one URL. */
function isCanonical(c: AppContext): boolean {
  const { pathname } = new URL(c.req.url)
  const [rawPath] = c.env.target.split('?', 1)
  return rawPath === pathname && !pathname.includes('%')
}

/** Responds 405 with `Allow` (RFC 9110, 15.5.6). */
function allowOnly(methods: string) {
  return (c: AppContext): never => {
    c.header('Allow', methods)
    throw new Refusal('method-not-allowed', `This endpoint supports ${methods}.`)
  }
}

/** The `expires` parameter, validated as for an upload. Throws `Refusal('bad-expires')`. */
function expiresParameter(c: AppContext): string | undefined {
  const { search } = new URL(c.req.url)
  const isPresent = lifetimeFor(search, { standard: null, max: null }) !== null
  return isPresent ? c.req.query(EXPIRES_PARAMETER) : undefined
}

function corsHeaders(parts: AppParts) {
  return async (c: AppContext, next: () => Promise<void>) => {
    await next()
    for (const [name, value] of Object.entries(parts.origins.corsHeaders(c.req.header('Origin')))) {
      c.res.headers.set(name, value)
    }
  }
}

/** Responds with a page when the path is a page's or the client prefers HTML; otherwise with problem details. */
async function answerError(c: AppContext, parts: AppParts, error: unknown): Promise<Response> {
  logFault(parts.log, error, c.get('requestId'))
  const details = toProblem(error)
  const status = details.status as ContentfulStatusCode
  const retryAfter = error instanceof Refusal ? error.retryAfterSeconds : undefined
  if (retryAfter !== undefined) c.header('Retry-After', `${retryAfter}`)
  const wantsPage = isPage(c) || prefersHtml(c.req.header('Accept'))
  if (wantsPage && !PROBED_PATHS.test(c.req.path)) {
    return problemPage(c, parts, error, status)
  }
  const success = c.req.path === DELETE_PATH ? { success: false as const } : {}
  return c.body(JSON.stringify({ ...details, ...success }), status, { 'Content-Type': PROBLEM_TYPE })
}

/** True for paths that people open in a browser. The API and all nested paths are for programs. */
function isPage(c: AppContext): boolean {
  const { path, method } = c.req
  if (method !== 'GET' && method !== 'HEAD') return path === '/delete'
  return path === DELETE_PATH || (path !== OEMBED_PATH && !path.slice(1).includes('/'))
}
