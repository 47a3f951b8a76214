/** GET /preview/<id>: the smaller picture that came with an image. Where none did, a redirect to the image; or all lead to a resizer. */
import type { Cdn } from '../../cdn/cdn.ts'
import { CDN_MAX_AGE_SECONDS, previewPath, REQUEST_ID_HEADER, rawPath } from '../../protocol.ts'
import type { ExpiryClock } from '../../service/expiry-clock.ts'
import { leftMsOf } from '../../service/images/expiry.ts'
import type { Images } from '../../service/images/images.ts'
import { dispose, type ImageRecord, type StoredImage, type Wanted } from '../../stores/object-store.ts'
import type { Resizer } from '../../web/resizer.ts'
import type { Answer } from '../answer.ts'
import { rangeOf } from '../headers/conditional.ts'
import { cacheHeaders, type ImageHeaders, imageHeaders } from '../headers/image-headers.ts'
import {
  answerWith,
  assertMatch,
  type ImageAnswers,
  notFound,
  partOf,
  type RawRequest,
  wantsNone,
} from './image-answers.ts'

export const PREVIEW_PREFIX = previewPath('')

const TARGET = /^\/preview\/([0-9A-Za-z]{11})(\?.*)?$/s

/** `null` if the target is no address of a preview. Never throws, never rejects. */
export function createPreviews(parts: {
  images: Pick<Images, 'open'>
  cdn: Cdn | null
  baseUrl: string
  /** Headers of every answer. */
  common: string[]
  answers: ImageAnswers
  expiryClock: Pick<ExpiryClock, 'latest'>
  resizer: Resizer | null
}): (request: RawRequest) => Promise<Answer> | Answer | null {
  const { images, cdn, baseUrl, common, answers, expiryClock, resizer } = parts

  /** `null` where the address leads elsewhere. */
  function headersOf(record: ImageRecord): ImageHeaders | null {
    const { id, preview } = record
    return preview === undefined || resizer?.resized(record)
      ? null
      : imageHeaders({ id, ...preview }, common, cdn, leftMsOf(record, expiryClock))
  }

  function wantedOf(request: RawRequest, record: ImageRecord): Wanted {
    const known = headersOf(record)
    return known === null || wantsNone(request, known.etag) ? 'nothing' : 'preview'
  }

  async function open(request: RawRequest, id: string): Promise<Answer> {
    const image = await images.open(id, (record) => wantedOf(request, record), request.signal)
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
    if (known === null) return { ...elsewhere(record), release }
    const { etag, of } = known
    assertMatch(request, etag)
    const { size } = record.preview!
    const asked = wantsNone(request, etag)
      ? undefined
      : rangeOf(request.header('range'), request.header('if-range'), etag)
    const headers = (isWhole: boolean) => of('inline', isWhole)
    return answerWith(request, asked ? partOf(image, asked, size) : image, { etag, headers, size })
  }

  /**
   * To the image, and kept as long as that: it never gains a preview. To a resizer, and kept no longer than a shared cache
   * keeps it: the operator may change its address. 307, so that nobody takes either for the only address.
   */
  function elsewhere(record: ImageRecord): Answer {
    const { id } = record
    const resized = resizer?.resized(record) ?? null
    const left = leftMsOf(record, expiryClock) ?? Number.POSITIVE_INFINITY
    const kept = Math.min(left, resized === null ? Number.POSITIVE_INFINITY : 2000 * CDN_MAX_AGE_SECONDS)
    // On this host, whichever of its names the page came by: its policy allows pictures of no other.
    const location = resized?.address ?? rawPath(id)
    const headers = ['Location', location, 'Content-Length', '0']
    headers.push('Access-Control-Allow-Origin', '*', 'Cross-Origin-Resource-Policy', 'cross-origin')
    headers.push(REQUEST_ID_HEADER, crypto.randomUUID(), 'X-Robots-Tag', 'noindex')
    headers.push(...cacheHeaders(id, cdn, Number.isFinite(kept) ? kept : null), ...common)
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
