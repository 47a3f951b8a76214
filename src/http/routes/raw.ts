/**
 * GET /raw/<id>, the hot path with thousands of requests per second; and GET /preview/<id> (`preview.ts`).
 * Framework-independent, so that a host can write the responses straight to the socket.
 */
import type { CacheRules } from '../../cdn/cdn.ts'
import { EXTENSIONS, ID_LENGTH, rawPath } from '../../protocol.ts'
import type { ExpiryClock } from '../../service/expiry-clock.ts'
import { isExpired, leftMsOf } from '../../service/images/expiry.ts'
import type { Images } from '../../service/images/images.ts'
import {
  dispose,
  type ImageRecord,
  type ReadSelection,
  type Selection,
  type StoredImage,
  UnsatisfiableRange,
} from '../../stores/object-store.ts'
import type { Answer } from '../answer.ts'
import type { Site } from '../context.ts'
import { commonHeaders } from '../headers/common.ts'
import { rangeOf } from '../headers/conditional.ts'
import { type ImageHeaders, imageHeaders } from '../headers/image-headers.ts'
import type { Log } from '../log.ts'
import {
  answerWith,
  assertIfMatch,
  type ConditionHeader,
  createImageAnswers,
  hasNoBody,
  notFound,
  type RawRequest,
  sliceRange,
} from './image-answers.ts'
import { createPreviews, PREVIEW_PREFIX } from './preview.ts'

/** Conditions that depend on the image's record. */
const RECORD_CONDITIONS: readonly ConditionHeader[] = ['if-match', 'if-none-match', 'if-range']

/**
 * Returns `null` when the target is not an image URL. Synchronous for images in memory: a promise would add a tenth to the
 * cost of a response. Never throws or rejects.
 */
export type Raw = (request: RawRequest) => Answer | null | Promise<Answer>

const DOWNLOAD = '?dl=1'

/** `/raw/<id>`, with or without an extension. */
const TARGET = /^\/raw\/([0-9A-Za-z]{11})(?:\.(jpg|png|gif|webp|avif))?(\?.*)?$/s

interface Target {
  id: string
  extension: string | undefined
  query: string
}

const RAW_PREFIX = rawPath('')
const ID_END = RAW_PREFIX.length + ID_LENGTH

/** True when `Raw` may handle the target. */
export function isRawTarget(target: string): boolean {
  return target.startsWith(RAW_PREFIX) || target.startsWith(PREVIEW_PREFIX)
}

/** Keeps responses out of a cache that could not purge them (`misses`). */
export function createRaw(parts: Parts): Raw {
  const { cdn } = parts
  const raw = rawFor(parts)
  if (!cdn?.misses) return raw
  const uncached = rawFor({ ...parts, cdn: { ...cdn, cacheHeaders: (id) => cdn.cacheHeaders(id, 0) } })
  return (request) => (cdn.misses?.(request.header) ? uncached(request) : raw(request))
}

interface Parts {
  images: Images
  /** Returns the image if it is cached in memory. Absent when the store has no memory cache. */
  hot?: (id: string) => StoredImage | null
  cdn: CacheRules | null
  baseUrl: string
  site: Site
  log: Log
  /** Whether the operator has set all images to private: nobody can view them. */
  isPrivate: () => boolean
  expiryClock: Pick<ExpiryClock, 'latest'>
}

function rawFor(parts: Parts): Raw {
  const { isPrivate, expiryClock } = parts
  const common = commonHeaders(parts.baseUrl).flat()
  const answers = createImageAnswers(common, parts.site, parts.log)
  const previews = createPreviews({ ...parts, common, answers, resizer: parts.site.facts.resizer })
  const known = new WeakMap<ImageRecord, ImageHeaders>()

  /** Not cached for an image that expires, because the remaining time changes every second. */
  function headersOf(record: ImageRecord): ImageHeaders {
    return known.get(record) ?? imageHeaders(record, common, parts.cdn, leftMsOf(record, expiryClock))
  }

  function fromMemory(id: string): StoredImage | null {
    const image = parts.hot?.(id) ?? null
    if (image === null) return null
    const { record, release } = image
    if (isExpired(record, expiryClock)) {
      release?.()
      return null
    }
    // Only records in memory are reused as objects. Entries for records read from disk would be garbage immediately.
    if (record.expiresAt === undefined && !known.has(record)) known.set(record, headersOf(record))
    return image
  }

  /** Fast path: a whole image from memory. `null` when the target is anything but a canonical URL of the image. */
  function answerWhole(image: StoredImage, target: string): Answer | null {
    const { record, body, release } = image
    const isDownload = target.endsWith(DOWNLOAD)
    const extension = target.slice(ID_END, isDownload ? -DOWNLOAD.length : undefined)
    if (extension !== '' && extension !== `.${EXTENSIONS[record.type]}`) return null
    const headers = headersOf(record).of(isDownload ? 'attachment' : 'inline', true)
    return { status: 200, headers, body, release }
  }

  /** Opens the image only once, even when the conditions depend on its record. */
  async function answerCold(request: RawRequest, target: Target): Promise<Answer> {
    const { id } = target
    const open = (selection: Selection) => parts.images.open(id, selection)
    const image = await open(selectionOf(request, target)).catch((error) => {
      if (!(error instanceof UnsatisfiableRange)) throw error
      // A range was read without the record, which may have expired or be of another type.
      return open((record) => wantedOf(request, target, record))
    })
    if (image === null) throw notFound()
    try {
      return answerTo(request, target, image)
    } catch (error) {
      await dispose(image)
      throw error
    }
  }

  /** The part to read, or a function of the record when the conditions depend on it. */
  function selectionOf(request: RawRequest, target: Target): Selection {
    if (isPlain(request)) return 'all'
    const dependsOnRecord =
      request.method === 'HEAD' || RECORD_CONDITIONS.some((name) => request.header(name) !== undefined)
    if (dependsOnRecord) return (record) => wantedOf(request, target, record)
    return rangeOf(request.header('range'), undefined, '') ?? 'all'
  }

  /** Throws when a precondition fails, the extension is wrong, or the image has expired. */
  function wantedOf(request: RawRequest, target: Target, record: ImageRecord): ReadSelection {
    if (isExpired(record, expiryClock)) throw notFound()
    assertExtensionMatches(target, record)
    const { etag } = headersOf(record)
    assertIfMatch(request, etag)
    if (hasNoBody(request, etag)) return 'nothing'
    return rangeOf(request.header('range'), request.header('if-range'), etag) ?? 'all'
  }

  /** `image`: opened with `selectionOf`. */
  function answerTo(request: RawRequest, target: Target, image: StoredImage): Answer {
    const { record } = image
    assertExtensionMatches(target, record)
    const { etag, of } = headersOf(record)
    const disposition = target.query === DOWNLOAD ? 'attachment' : 'inline'
    const headers = (isWhole: boolean) => of(disposition, isWhole)
    return answerWith(request, image, { etag, headers, size: record.size })
  }

  function redirect(target: string, query: string): Answer {
    const wantsDownload = query.slice(1).split('&').includes('dl=1')
    const path = target.slice(0, target.length - query.length)
    return answers.redirect(`${parts.baseUrl}${path}${wantsDownload ? '?dl=1' : ''}`)
  }

  function answer(request: RawRequest): Answer | null | Promise<Answer> {
    if (!request.target.startsWith(RAW_PREFIX)) return previews(request)
    const id = request.target.slice(RAW_PREFIX.length, ID_END)
    const image = isPrivate() ? null : fromMemory(id)
    const whole = image !== null && isPlain(request) ? answerWhole(image, request.target) : null
    if (whole !== null) return whole
    try {
      const target = parseTarget(request.target)
      const needsRedirect = target === null || (target.query !== '' && target.query !== DOWNLOAD)
      if (!needsRedirect && image !== null) {
        const wanted = wantedOf(request, target, image.record)
        return answerTo(request, target, sliceRange(image, wanted, image.record.size))
      }
      image?.release?.()
      if (target === null) return null
      if (needsRedirect) return redirect(request.target, target.query)
      return answerCold(request, target).catch((error) => answers.refuse(error, request))
    } catch (error) {
      image?.release?.()
      throw error
    }
  }

  return (request) => {
    try {
      return answer(request)
    } catch (error) {
      return answers.refuse(error, request)
    }
  }
}

/** Throws when the URL has the extension of another type. */
function assertExtensionMatches({ extension }: Target, { type }: ImageRecord): void {
  if (extension !== undefined && extension !== EXTENSIONS[type]) throw notFound()
}

/** True for an unconditional GET of the whole image. */
function isPlain({ method, isConditional }: RawRequest): boolean {
  return method === 'GET' && !isConditional
}

/** `null` when the target is not an image URL. */
function parseTarget(target: string): Target | null {
  const match = TARGET.exec(target)
  return match === null ? null : { id: match[1]!, extension: match[2], query: match[3] ?? '' }
}
