/** Pages: home, viewer, deletion, terms, and errors for people. */
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { Refusal } from '../../errors.ts'
import { KEY_PATTERN } from '../../protocol.ts'
import { idOfKey } from '../../service/images/ids.ts'
import type { Page } from '../../web/pages/page.ts'
import {
  contextFor,
  deletedPage,
  deletePage,
  GALLERY_SCRIPT_DIGEST,
  galleryPage,
  homePage,
  termsPage,
  toolsPage,
  viewerPage,
} from '../../web/pages.ts'
import { readForm } from '../body.ts'
import type { AppContext, AppParts } from '../context.ts'
import { NO_STORE, PAGE_HEADERS, policyWith, SERVICE_LINKS } from '../headers/common.ts'
import { acceptsCoding } from '../headers/negotiate.ts'
import { deleteByKey, unknownKey } from './delete.ts'
import { errorPageOf } from './error-page.ts'
import { notFound } from './image-answers.ts'

export async function sendPage(
  c: AppContext,
  page: Page,
  status: ContentfulStatusCode = 200,
): Promise<Response> {
  for (const [name, value] of Object.entries(PAGE_HEADERS)) c.header(name, value)
  return c.html(page, status)
}

/**
 * The same, compressed where the client takes that. Never a page with a key in it: the length of a compressed answer
 * tells of its content to whoever can put text of their own beside it (BREACH).
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

/** The same answer, which no cache keeps. */
export function unkept(response: Response): Response {
  response.headers.set('Cache-Control', NO_STORE)
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

/** Which pictures stands after the `#`, which never comes here. */
export async function gallery(c: AppContext, parts: AppParts): Promise<Response> {
  const response = await sendCompressed(c, galleryPage(contextOf(c, parts)))
  const resizer = parts.site.facts.resizer?.origin
  response.headers.set('Content-Security-Policy', policyWith({ script: GALLERY_SCRIPT_DIGEST, resizer }))
  return response
}

/** Throws `Refusal`: `not-found`, `removed`, `held`, `unavailable`. */
export async function viewer(c: AppContext, parts: AppParts, id: string): Promise<Response> {
  const record = await parts.images.find(id)
  if (record === null) throw notFound()
  const response = await sendCompressed(c, viewerPage(contextOf(c, parts), { record }))
  const resizer = parts.site.facts.resizer?.origin
  if (resizer !== undefined) response.headers.set('Content-Security-Policy', policyWith({ resizer }))
  return response
}

/** GET never deletes: link previews fetch it. The key is in the page, so nothing keeps it. */
export async function askDeletion(c: AppContext, parts: AppParts): Promise<Response> {
  const key = c.req.query('key')
  if (!key) throw new Refusal('missing-key', 'This address needs the deletion key: ?key=…')
  if (!KEY_PATTERN.test(key)) throw unknownKey()
  const isThere = await parts.images.find(idOfKey(key)).then(
    (record) => record !== null,
    (error) => {
      // Its owner may delete it all the same.
      if (error instanceof Refusal && error.code === 'held') return true
      throw error
    },
  )
  const context = contextOf(c, parts)
  return unkept(
    isThere
      ? await sendPage(c, deletePage(context, { key }))
      : await sendCompressed(c, deletedPage(context, { wasGone: true }), 404),
  )
}

/** The page's own form, for browsers without scripts. */
export async function deleteByForm(c: AppContext, parts: AppParts): Promise<Response> {
  parts.origins.assertAllowed((name) => c.req.header(name))
  const key = (await readForm(c)).get('key')
  if (!key) throw new Refusal('missing-key', 'The form has no deletion key.')
  await deleteByKey(c, parts, key)
  return unkept(await sendPage(c, deletedPage(contextOf(c, parts))))
}

/** An error as a page. No cache keeps it: what is missing now may be there soon, and the other way round. */
export async function problemPage(
  c: AppContext,
  parts: AppParts,
  error: unknown,
  status: ContentfulStatusCode,
): Promise<Response> {
  const page = errorPageOf(parts.site, c.req.header('Accept-Language'), error, c.get('requestId'))
  return unkept(await sendCompressed(c, page, status))
}
