/** Behind the operator's door: every route on one screen. Never reachable through the public listener. */
import { Hono } from 'hono'
import { ID_PATTERN } from '../../protocol.ts'
import type { Door, Passed } from '../../service/door.ts'
import type { Settings } from '../../service/settings.ts'
import type { Takedown } from '../../service/takedown.ts'
import type { Ledger } from '../../stores/ledger.ts'
import { overviewPage } from '../../web/operator/overview.ts'
import { closedPage, doorErrorPage, loginPage } from '../../web/operator/page.ts'
import type { Page } from '../../web/pages/page.ts'
import { readForm } from '../body.ts'
import type { AppContext, AppEnv, Site } from '../context.ts'
import { NO_STORE, PAGE_HEADERS } from '../headers/common.ts'
import type { Log } from '../log.ts'
import { logFault, toProblem } from '../problem.ts'
import { sendAsset } from '../routes/assets.ts'
import { actOnImages, changeSetting, factsOf } from './acts.ts'
import { cookieOf, sessionCookie, sessionOf } from './session.ts'

export interface OperatorParts {
  door: Door
  takedown: Takedown
  settings: Settings
  ledger: Ledger
  /** Epoch milliseconds. */
  now: () => number
  metrics: { text(): Promise<string> }
  site: Site
  log: Log
  /** Where people reach it. No trailing slash. */
  url: string
}

const FORM_MAX_BYTES = 8 * 1024

/** A tab that shows it sends no address of it to anybody. */
const HEADERS = { ...PAGE_HEADERS, 'Cache-Control': NO_STORE, 'Referrer-Policy': 'no-referrer' }

export function createOperatorApp(parts: OperatorParts): Hono<AppEnv> {
  const app = new Hono<AppEnv>()
  const { door, site } = parts

  const contextOf = (passed: Passed | null) => {
    const { style, icon } = site.context(undefined).assets
    return { style, icon, who: passed?.who ?? null, formToken: passed?.formToken ?? '' }
  }

  async function send(c: AppContext, page: Page, status: 200 | 401 | 403 | 404 | 400 | 500 = 200) {
    for (const [name, value] of Object.entries(HEADERS)) c.header(name, value)
    return c.html(page, status)
  }

  /** `null` if nobody may pass. */
  async function passedBy(c: AppContext): Promise<Passed | null> {
    const bearer = /^Bearer +(\S+)$/i.exec(c.req.header('Authorization') ?? '')?.[1]
    if (bearer !== undefined) return door.program(bearer)
    const session = sessionOf(c.req.header('Cookie'))
    return session === null ? null : door.session(session)
  }

  const refuse = (c: AppContext, detail: string) => send(c, doorErrorPage(contextOf(null), detail), 403)

  /** A form of a session carries its token; a browser says where it comes from. */
  function withForm(handle: (c: AppContext, form: URLSearchParams, passed: Passed) => Promise<Response>) {
    return async (c: AppContext): Promise<Response> => {
      const passed = await passedBy(c)
      if (passed === null) return send(c, closedPage(contextOf(null)), 401)
      const form = await readForm(c, FORM_MAX_BYTES)
      const isOurs = passed.formToken === null || form.get('form-token') === passed.formToken
      if (!isOurs || isFromElsewhere(c)) return refuse(c, 'This form is not from this page, or too old.')
      return handle(c, form, passed)
    }
  }

  app.use(async (c, next) => {
    c.set('requestId', crypto.randomUUID())
    await next()
    c.res.headers.set('X-Content-Type-Options', 'nosniff')
    if (!c.res.headers.has('Cache-Control')) c.res.headers.set('Cache-Control', NO_STORE)
  })

  // It has numbers alone, and Prometheus no session.
  app.get('/metrics', async (c) =>
    c.body(await parts.metrics.text(), 200, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' }),
  )

  // Whatever fetches a link before a person does: only the button uses it up.
  app.get('/login', (c) => send(c, loginPage(contextOf(null), c.req.query('token') ?? '')))
  app.post('/login', async (c) => {
    const form = await readForm(c, FORM_MAX_BYTES)
    if (isFromElsewhere(c)) return refuse(c, 'This form is not from this page.')
    const session = await door.enter(form.get('token') ?? '')
    if (session === null) return refuse(c, 'This link was used, or is older than ten minutes.')
    c.header('Set-Cookie', sessionCookie(session, parts.url.startsWith('https:')))
    return c.redirect('/', 303)
  })
  app.post(
    '/logout',
    withForm(async (c) => {
      const session = sessionOf(c.req.header('Cookie'))
      if (session !== null) await door.leave(session)
      c.header('Set-Cookie', cookieOf('', parts.url.startsWith('https:'), 0))
      return c.redirect('/', 303)
    }),
  )

  app.get('/', async (c) => {
    const passed = await passedBy(c)
    if (passed === null) return send(c, closedPage(contextOf(null)), 401)
    return send(c, overviewPage(contextOf(passed), await factsOf(parts)))
  })
  app.get('/acts', async (c) => {
    if ((await passedBy(c)) === null) return send(c, closedPage(contextOf(null)), 401)
    return c.json(await parts.ledger.acts(1000))
  })
  app.post(
    '/settings',
    withForm(async (c, form, { who }) => {
      const mistake = await changeSetting(parts, form, who)
      return mistake === null ? c.redirect('/', 303) : send(c, doorErrorPage(contextOf(null), mistake), 400)
    }),
  )
  app.post(
    '/images',
    withForm(async (c, form, { who }) => {
      const mistake = await actOnImages(parts, form, who, idIn)
      return mistake === null ? c.redirect('/', 303) : send(c, doorErrorPage(contextOf(null), mistake), 400)
    }),
  )

  app.get('*', (c, next) => sendAsset(c, site) ?? next())
  app.notFound((c) => send(c, doorErrorPage(contextOf(null), 'There is nothing at this address.'), 404))
  app.onError((error, c) => {
    logFault(parts.log, error, c.get('requestId'))
    const { status, detail } = toProblem(error)
    return send(c, doorErrorPage(contextOf(null), detail), status < 500 ? 400 : 500)
  })
  return app
}

/** Browsers say so (Fetch Metadata); who says nothing is no browser of today, and has no cookie of one. */
function isFromElsewhere(c: AppContext): boolean {
  const site = c.req.header('Sec-Fetch-Site')
  return site !== undefined && site !== 'same-origin' && site !== 'none'
}

/** An id, or an address that ends with one. */
function idIn(text: string): string | null {
  const id = text
    .trim()
    .replace(/[?#].*$/, '')
    .replace(/^.*\//, '')
    .replace(/\.\w+$/, '')
  return ID_PATTERN.test(id) ? id : null
}
