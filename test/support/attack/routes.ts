/** All routes of both listeners, taken from the code so that attacks miss none. */
import { createApp } from '../../../src/http/app.ts'
import type { AppParts } from '../../../src/http/context.ts'
import type { OperatorParts } from '../../../src/http/operator/access.ts'
import { cookieOf } from '../../../src/http/operator/access.ts'
import { createOperatorApp } from '../../../src/http/operator/app.ts'
import { DELETE_PATH, OEMBED_PATH, REPORT_PAGE_PATH, REPORT_PATH } from '../../../src/protocol.ts'
import type { Stored, Target } from './targets.ts'

/** Settings that enable every route. Challenges are available, but no rate triggers them. */
export const EVERY_ROUTE = { CHALLENGE: 'auto', CHALLENGE_RATE: '0' }

/** Query and body that let a request get as far as possible, by path. */
type Details = Record<string, (stored: Stored) => Pick<Target, 'takes' | 'whole'> & { query?: string }>

const PUBLIC: Details = {
  '/delete': (stored) => form(`key=${unknownKey(stored)}`),
  [DELETE_PATH]: (stored) => ({ query: `?key=${unknownKey(stored)}` }),
  [OEMBED_PATH]: ({ baseUrl, smallId }) => ({ query: `?url=${encodeURIComponent(`${baseUrl}/${smallId}`)}` }),
  [REPORT_PAGE_PATH]: ({ smallId }) => ({
    query: `?id=${smallId}`,
    ...form(`image=/${smallId}&category=other&text=${'a'.repeat(500)}`),
  }),
  [REPORT_PATH]: ({ smallId }) => ({
    takes: 'json',
    whole: JSON.stringify({ image: `/${smallId}`, category: 'other', text: 'a'.repeat(500) }),
  }),
}

const OPERATOR: Details = {
  '/login': () => ({ query: `?token=${NO_TOKEN}`, ...form(`token=${NO_TOKEN}`) }),
}

/** Has the format of the admin server's tokens, so that it is looked up. */
const NO_TOKEN = 'a'.repeat(64)

/** Sample values of path parameters. */
const SAMPLES: Record<string, (stored: Stored) => string> = {
  id: ({ smallId }) => smallId,
  name: ({ largeId }) => `${largeId}.none`,
  secret: () => 'a'.repeat(64),
}

/** Routes of the public listener that are handled by the framework. */
export function publicRoutes(stored: Stored): Target[] {
  const parts = { baseUrl: stored.baseUrl, maxUploadBytes: 1, quota: { limit: 1 }, site: {} }
  return routesOf(createApp(parts as AppParts), PUBLIC, stored)
}

/** Routes of the admin server, with an invalid session cookie. */
export function operatorRoutes(stored: Stored): Target[] {
  const parts = { site: {}, url: 'http://operator' }
  return routesOf(createOperatorApp(parts as OperatorParts), OPERATOR, stored).map((target) => ({
    ...target,
    headers: `Cookie: ${cookieOf(NO_TOKEN, false).split(';')[0]}\r\n`,
    isAtAdmin: true,
  }))
}

interface App {
  routes: { method: string; path: string }[]
}

/** Leaves out `ALL` routes: middleware, and handlers for wrong methods, of which a single target is enough. */
function routesOf(app: App, details: Details, stored: Stored): Target[] {
  const names = app.routes
    .filter(({ method }) => method !== 'ALL')
    .map(({ method, path }) => `${method} ${path}`)
  return [...new Set(names)].map((name) => {
    const [method, path] = name.split(' ') as [string, string]
    const { query = '', ...body } = details[path]?.(stored) ?? {}
    const isRead = method === 'GET' || method === 'DELETE'
    const address = path === '/*' ? stored.assetPath : withSamples(path, stored)
    if (isRead || method === 'OPTIONS') return { method, path: address + query }
    return { method, path: address, ...form(''), ...body }
  })
}

function withSamples(path: string, stored: Stored): string {
  return path.replace(/:(\w+)(\{[^/]*\})?/g, (_, name: string) => {
    const sample = SAMPLES[name]
    if (sample === undefined) throw new Error(`routes.ts needs a sample for :${name} of ${path}`)
    return sample(stored)
  })
}

function form(whole: string): Pick<Target, 'takes' | 'whole'> {
  return { takes: 'form', whole }
}

export function unknownKey({ smallId }: Stored): string {
  return smallId + 'A'.repeat(32)
}
