/**
 * GET /preview/<id>: the preview that was uploaded with an image. Redirects to the image when it has no preview, or to an
 * external resizer if one is configured.
 */
import type { CacheRules } from '../../cdn/cdn.ts'
import { CDN_MAX_AGE_SECONDS, previewPath, REQUEST_ID_HEADER, rawPath } from '../../protocol.ts'
import type { ExpiryClock } from '../../service/expiry-clock.ts'
import { leftMsOf } from '../../service/images/expiry.ts'
import type { Images } from '../../service/images/images.ts'
import { dispose, type ImageRecord, type ReadSelection, type StoredImage } from '../../stores/object-store.ts'
import type { Resizer } from '../../web/resizer.ts'
import type { Answer } from '../answer.ts'
import { rangeOf } from '../headers/conditional.ts'
import { cacheHeaders, type ImageHeaders, imageHeaders } from '../headers/image-headers.ts'
import {
  answerWith,
  assertIfMatch,
  hasNoBody,
  type ImageAnswers,
  notFound,
  type RawRequest,
  sliceRange,
} from './image-answers.ts'

export const PREVIEW_PREFIX = previewPath('')

const TARGET = /^\/preview\/([0-9A-Za-z]{11})(\?.*)?$/s

/** The handler returns `null` when the target is not a preview URL. Never throws or rejects. */
export function createPreviews(parts: {
  images: Pick<Images, 'open'>
  cdn: CacheRules | null
  baseUrl: string
  /** Headers of every response. */
  common: string[]
  answers: ImageAnswers
  expiryClock: Pick<ExpiryClock, 'latest'>
  resizer: Resizer | null
}): (request: RawRequest) => Promise<Answer> | Answer | null {
  const { images, cdn, baseUrl, common, answers, expiryClock, resizer } = parts

  /** `null` when the URL redirects. */
  function headersOf(record: ImageRecord): ImageHeaders | null {
    const { id, preview } = record
    return preview === undefined || resizer?.resized(record)
      ? null
      : imageHeaders({ id, ...preview }, common, cdn, leftMsOf(record, expiryClock))
  }

  function wantedOf(request: RawRequest, record: ImageRecord): ReadSelection {
    const known = headersOf(record)
    return known === null || hasNoBody(request, known.etag) ? 'nothing' : 'preview'
  }

  async function open(request: RawRequest, id: string): Promise<Answer> {
    const image = await images.open(id, (record) => wantedOf(request, record))
    if (image === null) throw notFound()
    try {
      return answerTo(request, image)
    } catch (error) {
      await dispose(image)
      throw error
    }
  }

  function answerTo(request: RawRequest, image: StoredImage): Answer {
    const { record, release } = image
    const known = headersOf(record)
    if (known === null) return { ...redirect(record), release }
    const { etag, of } = known
    assertIfMatch(request, etag)
    const { size } = record.preview!
    const range = hasNoBody(request, etag)
      ? undefined
      : rangeOf(request.header('range'), request.header('if-range'), etag)
    const headers = (isWhole: boolean) => of('inline', isWhole)
    return answerWith(request, range ? sliceRange(image, range, size) : image, { etag, headers, size })
  }

  /**
   * A redirect to the image is cached as long as the image, because an image never gains a preview later. Browsers cache a
   * redirect to a resizer no longer than shared caches do, because the operator may change its URL. 307, because neither
   * target is the permanent URL of the preview.
   */
  function redirect(record: ImageRecord): Answer {
    const { id } = record
    const resized = resizer?.resized(record) ?? null
    const left = leftMsOf(record, expiryClock) ?? Number.POSITIVE_INFINITY
    const lifetimeMs = Math.min(
      left,
      resized === null ? Number.POSITIVE_INFINITY : 2000 * CDN_MAX_AGE_SECONDS,
    )
    // Relative, because the page may have been loaded under another hostname and its policy allows images of that host only.
    const location = resized?.address ?? rawPath(id)
    const headers = ['Location', location, 'Content-Length', '0']
    headers.push('Access-Control-Allow-Origin', '*', 'Cross-Origin-Resource-Policy', 'cross-origin')
    headers.push(REQUEST_ID_HEADER, crypto.randomUUID(), 'X-Robots-Tag', 'noindex')
    headers.push(...cacheHeaders(id, cdn, Number.isFinite(lifetimeMs) ? lifetimeMs : null), ...common)
    return { status: 307, headers, body: null }
  }

  return (request) => {
    const match = TARGET.exec(request.target)
    if (match === null) return null
    const [, id = '', query] = match
    if (query !== undefined) return answers.redirect(`${baseUrl}${previewPath(id)}`)
    return open(request, id).catch((error) => answers.refuse(error, request))
  }
}
