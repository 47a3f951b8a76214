/** Pages: home, viewer, deletion, terms and errors. */
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { Refusal } from '../../errors.ts'
import { KEY_PATTERN } from '../../protocol.ts'
import { idOfKey } from '../../service/images/ids.ts'
import { deletedPage, deletePage } from '../../web/pages/delete.ts'
import { GALLERY_SCRIPT_DIGEST, galleryPage } from '../../web/pages/gallery.ts'
import { homePage } from '../../web/pages/home.ts'
import { contextFor, type Page } from '../../web/pages/page.ts'
import { termsPage } from '../../web/pages/terms.ts'
import { toolsPage } from '../../web/pages/tools.ts'
import { viewerPage } from '../../web/pages/viewer.ts'
import { readForm } from '../body.ts'
import type { AppContext, AppParts } from '../context.ts'
import {
  NO_STORE,
  NO_STORE_NO_TRANSFORM,
  PAGE_HEADERS,
  policyWith,
  SERVICE_LINKS,
} from '../headers/common.ts'
import { acceptsCoding } from '../headers/negotiate.ts'
import { deleteByKey, unknownKey } from './delete.ts'
import { errorPageOf } from './error-page.ts'
import { notFound } from './image-answers.ts'

async function sendPage(c: AppContext, page: Page, status: ContentfulStatusCode = 200): Promise<Response> {
  for (const [name, value] of Object.entries(PAGE_HEADERS)) c.header(name, value)
  return c.html(page, status)
}

/**
 * Like `sendPage`, but compressed if the client accepts it. Never use it for a page that contains a key: the length of a
 * compressed response leaks its content to an attacker who can inject text into it (BREACH).
 */
export async function sendCompressed(
  c: AppContext,
  page: Page,
  status: ContentfulStatusCode = 200,
): Promise<Response> {
  const response = await sendPage(c, page, status)
  if (response.body === null || !acceptsCoding(c.req.header('Accept-Encoding'), 'gzip')) return response
  const compressed = await new Response(
    response.body.pipeThrough(new CompressionStream('gzip')),
  ).arrayBuffer()
  const headers = new Headers(response.headers)
  headers.set('Content-Encoding', 'gzip')
  headers.set('Content-Length', `${compressed.byteLength}`)
  return new Response(compressed, { status, headers })
}

/** Sets `Cache-Control`. */
export function uncached(response: Response, cacheControl = NO_STORE): Response {
  response.headers.set('Cache-Control', cacheControl)
  return response
}

/** Sets the policy of pages that show previews, which a resizer on another host may serve. `script`: see `policyWith`. */
function allowPreviews(response: Response, { site }: AppParts, script?: string): Response {
  const resizer = site.facts.resizer?.origin
  response.headers.set('Content-Security-Policy', policyWith({ script, resizer }))
  return response
}

export function contextOf(c: AppContext, parts: AppParts) {
  return contextFor(parts.site.facts, c.req.header('Accept-Language'))
}

export function home(c: AppContext, parts: AppParts): Promise<Response> {
  c.header('Link', SERVICE_LINKS)
  return sendCompressed(c, homePage(contextOf(c, parts), { uploadsPaused: parts.uploadsPaused() }))
}

export function terms(c: AppContext, parts: AppParts): Promise<Response> {
  return sendCompressed(c, termsPage(contextOf(c, parts), { text: parts.site.terms }))
}

export function tools(c: AppContext, parts: AppParts): Promise<Response> {
  return sendCompressed(c, toolsPage(contextFor(parts.site.facts, 'en')))
}

/** The image IDs are in the URL fragment, which the server never sees. */
export async function gallery(c: AppContext, parts: AppParts): Promise<Response> {
  return allowPreviews(
    await sendCompressed(c, galleryPage(contextOf(c, parts))),
    parts,
    GALLERY_SCRIPT_DIGEST,
  )
}

/** Throws `Refusal`: `not-found`, `removed`, `held`, `unavailable`. */
export async function viewer(c: AppContext, parts: AppParts, id: string): Promise<Response> {
  const record = await parts.images.find(id)
  if (record === null) throw notFound()
  return allowPreviews(await sendCompressed(c, viewerPage(contextOf(c, parts), { record })), parts)
}

/** Confirmation page. GET never deletes, because link previews fetch it. Not cached, because the page contains the key. */
export async function confirmDeletion(c: AppContext, parts: AppParts): Promise<Response> {
  const key = c.req.query('key')
  if (!key) throw new Refusal('missing-key', 'This URL needs the deletion key: ?key=…')
  if (!KEY_PATTERN.test(key)) throw unknownKey()
  const context = contextOf(c, parts)
  return (await parts.images.exists(idOfKey(key)))
    ? allowPreviews(uncached(await sendPage(c, deletePage(context, { key })), NO_STORE_NO_TRANSFORM), parts)
    : uncached(await sendCompressed(c, deletedPage(context, { wasGone: true }), 404))
}

/** Handles the confirmation page's form, for browsers without scripts. Sent from any site: whoever has the key may delete. */
export async function deleteByForm(c: AppContext, parts: AppParts): Promise<Response> {
  const key = (await readForm(c)).get('key')
  if (!key) throw new Refusal('missing-key', 'The form has no deletion key.')
  await deleteByKey(c, parts, key)
  return uncached(await sendPage(c, deletedPage(contextOf(c, parts))))
}

/** An error page. Not cached: a missing image may appear soon, and vice versa. */
export async function problemPage(
  c: AppContext,
  parts: AppParts,
  error: unknown,
  status: ContentfulStatusCode,
): Promise<Response> {
  const page = errorPageOf(parts.site, c.req.header('Accept-Language'), error, c.get('requestId'))
  return uncached(await sendCompressed(c, page, status))
}
