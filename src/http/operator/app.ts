/** Routing table of the admin server. Never reachable through the public listener. */
import { HonoBase as Hono } from 'hono/hono-base'
import { TrieRouter } from 'hono/router/trie-router'
import { idIn } from '../../service/images/ids.ts'
import { overviewPage } from '../../web/operator/overview.ts'
import { loginPage } from '../../web/operator/page.ts'
import { readForm } from '../body.ts'
import type { AppEnv } from '../context.ts'
import { NO_STORE } from '../headers/common.ts'
import { logFault, toProblem } from '../problem.ts'
import { sendAsset } from '../routes/assets.ts'
import { cookieOf, createAccess, isCrossSite, type OperatorParts, sessionOf } from './access.ts'
import { answerCall, CALLS_PATH } from './calls.ts'
import { createCasePages } from './cases.ts'
import { sendFeed } from './feed.ts'
import { actOnImages, changeSetting, factsOf, holdMany } from './forms.ts'
import { sendImageBytes } from './image-bytes.ts'
import { addScans } from './scans.ts'

/** Prometheus' text format. */
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

const CASE_PATH = '/cases/:id{[0-9A-Za-z]{11}}'
const BYTES_PATH = '/images/:id{[0-9A-Za-z]{11}}/bytes'
const PREVIEW_PATH = '/images/:id{[0-9A-Za-z]{11}}/preview'

export function createOperatorApp(parts: OperatorParts): Hono<AppEnv> {
  const app = new Hono<AppEnv>({ router: new TrieRouter() })
  const { sessions, site } = parts
  const access = createAccess(parts)
  const { contextOf, send, sendError, mistaken, refuse, withPrincipal, withForm } = access
  const cases = createCasePages(parts, access)
  const isSecure = parts.url.startsWith('https:')

  app.use(async (c, next) => {
    c.set('requestId', crypto.randomUUID())
    await next()
    c.res.headers.set('X-Content-Type-Options', 'nosniff')
    if (!c.res.headers.has('Cache-Control')) c.res.headers.set('Cache-Control', NO_STORE)
  })

  // Unauthenticated: it contains only numbers, and Prometheus has no session.
  app.get('/metrics', async (c) => c.body(await parts.metrics.text(), 200, { 'Content-Type': METRICS_TYPE }))
  app.get('/feed.xml', (c) => sendFeed(c, parts, access))

  // GET does not consume the token: link previews may fetch the URL before the operator does.
  app.get('/login', (c) => send(c, loginPage(contextOf(null), c.req.query('token') ?? '')))
  app.post('/login', async (c) => {
    const form = await readForm(c)
    if (isCrossSite(c)) return refuse(c, 'This form was not sent from this page.')
    const session = await sessions.login(form.get('token') ?? '')
    if (session === null) return refuse(c, 'This link has already been used, or is older than ten minutes.')
    c.header('Set-Cookie', cookieOf(session, isSecure))
    return c.redirect('/', 303)
  })
  app.post(
    '/logout',
    withForm(async (c) => {
      const session = sessionOf(c.req.header('Cookie'))
      if (session !== null) await sessions.logout(session)
      c.header('Set-Cookie', cookieOf('', isSecure, 0))
      return c.redirect('/', 303)
    }),
  )

  app.get(
    '/',
    withPrincipal(async (c, principal) => send(c, overviewPage(contextOf(principal), await factsOf(parts)))),
  )
  app.get(
    '/acts',
    withPrincipal(async (c) => c.json(await parts.ledger.auditLog(1000))),
  )
  /** Wraps a form action: 303 back to the overview, or 400 with the error message that the action returns. */
  const formAction = (action: typeof changeSetting) =>
    withForm(async (c, form, { who }) => {
      const mistake = await action(parts, form, who)
      return mistake === null ? c.redirect('/', 303) : mistaken(c, mistake)
    })
  app.post('/settings', formAction(changeSetting))
  app.post('/images', formAction(actOnImages))
  app.post('/floods', formAction(holdMany))

  app.post(
    CALLS_PATH,
    // Bearer token only, never a session: no browser can be tricked into sending a token.
    withPrincipal((c, { formToken }) =>
      formToken === null
        ? answerCall(c, parts)
        : refuse(c, 'This endpoint accepts only a bearer token, not a session.'),
    ),
  )

  addScans(app, parts)

  app.get('/queue', withPrincipal(cases.list))
  app.get(
    '/cases',
    withPrincipal(async (c) => {
      const id = idIn(c.req.query('image') ?? '')
      return id === null ? mistaken(c, 'This is not an image ID or link.') : c.redirect(`/cases/${id}`, 303)
    }),
  )
  app.get(CASE_PATH, withPrincipal(cases.show))
  app.get(`${CASE_PATH}/others`, withPrincipal(cases.showOthers))
  app.post(CASE_PATH, withForm(cases.decide))
  app.post('/undo', withForm(cases.undo))
  app.get(
    BYTES_PATH,
    withPrincipal((c) => sendImageBytes(c, parts.objects, 'all')),
  )
  app.get(
    PREVIEW_PATH,
    withPrincipal((c) => sendImageBytes(c, parts.objects, 'preview')),
  )

  app.get('*', async (c, next) => (await sendAsset(c, site)) ?? next())
  app.notFound((c) => sendError(c, 'There is nothing at this URL.', 404))
  app.onError((error, c) => {
    logFault(parts.log, error, c.get('requestId'))
    const { status, detail } = toProblem(error)
    return sendError(c, detail, status < 500 ? 400 : 500)
  })
  return app
}
