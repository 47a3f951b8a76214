/** Authentication for the admin server: sessions, bearer tokens and CSRF protection of forms. */
import type { AdminSessions, Principal } from '../../service/admin-sessions.ts'
import type { Decisions } from '../../service/moderation/decisions.ts'
import type { Scanning } from '../../service/moderation/scanning.ts'
import type { Takedown } from '../../service/moderation/takedown.ts'
import type { Settings } from '../../service/settings.ts'
import type { Ledger } from '../../stores/ledger.ts'
import type { ObjectStore } from '../../stores/object-store.ts'
import { type AdminContext, adminErrorPage, closedPage } from '../../web/operator/page.ts'
import type { Page } from '../../web/pages/page.ts'
import { readForm } from '../body.ts'
import type { AppContext, Site } from '../context.ts'
import { bearerOf, NO_STORE, PAGE_HEADERS } from '../headers/common.ts'
import type { Log } from '../log.ts'

/** Services that the routes of the admin server use. */
export interface OperatorParts {
  sessions: AdminSessions
  takedown: Takedown
  decisions: Decisions
  scanning: Scanning
  settings: Settings
  ledger: Ledger
  objects: ObjectStore
  /** Epoch milliseconds. */
  now: () => number
  metrics: { text(): Promise<string> }
  site: Site
  log: Log
  /** Maximum images that one request looks up or hides, as Workers limit the subrequests of a request. Absent on Node. */
  maxImages?: number
  /** What users type before an operator command. */
  command: string
  /** Public URL of the admin server, without a trailing slash. */
  url: string
}

type PageStatus = 200 | 400 | 401 | 403 | 404 | 500

type Handle = (c: AppContext, principal: Principal) => Promise<Response>

export type Access = ReturnType<typeof createAccess>

/** Fits a thousand image URLs, URL-encoded. Unit: bytes. */
const FORM_MAX_BYTES = 96 * 1024

/** No referrer: URLs of the admin server never leave it. */
const HEADERS = { ...PAGE_HEADERS, 'Cache-Control': NO_STORE, 'Referrer-Policy': 'no-referrer' }

export function createAccess({ sessions, site, command }: OperatorParts) {
  /** Authenticates the request by bearer token or session. */
  async function principalOf(c: AppContext): Promise<Principal | null> {
    const bearer = bearerOf(c.req.header('Authorization'))
    if (bearer !== undefined) return sessions.program(bearer)
    const session = sessionOf(c.req.header('Cookie'))
    return session === null ? null : sessions.session(session)
  }

  function contextOf(principal: Principal | null): AdminContext {
    const { style, styles, scripts, icon } = site.facts.assets
    return {
      styles: [style, styles.operator],
      script: scripts.operator,
      icon,
      who: principal?.who ?? null,
      formToken: principal?.formToken ?? '',
    }
  }

  async function send(c: AppContext, page: Page, status: PageStatus = 200): Promise<Response> {
    for (const [name, value] of Object.entries(HEADERS)) c.header(name, value)
    return c.html(page, status)
  }

  function sendError(c: AppContext, detail: string, status: PageStatus): Promise<Response> {
    return send(c, adminErrorPage(contextOf(null), detail), status)
  }

  function refuse(c: AppContext, detail: string): Promise<Response> {
    return sendError(c, detail, 403)
  }

  /** Wraps a handler for authenticated requests. Others get 401 and a page that explains how to log in. */
  function withPrincipal(handle: Handle) {
    return async (c: AppContext): Promise<Response> => {
      if (isCrossSiteSubrequest(c)) return refuse(c, 'This request was sent by another website.')
      const principal = await principalOf(c)
      if (principal !== null) return handle(c, principal)
      // Most forms have an address that no page has.
      const next = c.req.method === 'GET' ? '' : '/'
      return send(c, closedPage(contextOf(null), command, next), 401)
    }
  }

  return {
    principalOf,
    contextOf,
    send,
    sendError,
    refuse,
    mistaken: (c: AppContext, mistake: string) => sendError(c, mistake, 400),
    withPrincipal,
    /** Wraps a form handler. Sessions must send their form token; browsers must not be cross-site. */
    withForm: (handle: (c: AppContext, form: URLSearchParams, principal: Principal) => Promise<Response>) =>
      withPrincipal(async (c, principal) => {
        const form = await readForm(c, FORM_MAX_BYTES)
        const isOurs = principal.formToken === null || form.get('form-token') === principal.formToken
        if (isOurs && !isCrossSite(c)) return handle(c, form, principal)
        return refuse(
          c,
          'This form was not sent from this page, or it has expired. Reload the page and try again.',
        )
      }),
  }
}

/** True for any cross-site request except a navigation by link. Checked before the session is looked up. */
function isCrossSiteSubrequest(c: AppContext): boolean {
  const isNavigation = c.req.method === 'GET' && c.req.header('Sec-Fetch-Dest') === 'document'
  return isCrossSite(c) && !isNavigation
}

/**
 * Current browsers send `Sec-Fetch-Site` to https and localhost. Without it, the `SameSite=Strict` cookie and the form token
 * protect a session.
 */
export function isCrossSite(c: AppContext): boolean {
  const site = c.req.header('Sec-Fetch-Site')
  return site !== undefined && site !== 'same-origin' && site !== 'none'
}

/** Name of the session cookie (RFC 6265). */
const COOKIE = 'pinhole-operator'

export function cookieOf(value: string, isSecure: boolean, maxAgeSeconds?: number): string {
  const parts = [`${COOKIE}=${value}`, 'Path=/', 'HttpOnly', 'SameSite=Strict']
  if (isSecure) parts.push('Secure')
  if (maxAgeSeconds !== undefined) parts.push(`Max-Age=${maxAgeSeconds}`)
  return parts.join('; ')
}

/** The session in a `Cookie` header. `null` when absent. */
export function sessionOf(cookies: string | undefined): string | null {
  for (const cookie of (cookies ?? '').split(';')) {
    const [name, value] = cookie.trim().split('=', 2)
    if (name === COOKIE && value) return value
  }
  return null
}
