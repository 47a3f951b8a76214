/**
 * GET /raw/<id>, answered thousands of times a second; and GET /preview/<id> (`preview.ts`). They speak no framework's
 * language, so that a host can write their answers straight to the socket.
 */
import type { Cdn } from '../../cdn/cdn.ts'
import { EXTENSIONS, ID_LENGTH, rawPath } from '../../protocol.ts'
import type { ExpiryClock } from '../../service/expiry-clock.ts'
import { isExpired, leftMsOf } from '../../service/images/expiry.ts'
import type { Images } from '../../service/images/images.ts'
import {
  dispose,
  type ImageRecord,
  resolveRange,
  type Selection,
  type StoredImage,
  type Wanted,
} from '../../stores/object-store.ts'
import type { Answer } from '../answer.ts'
import type { Site } from '../context.ts'
import { commonHeaders } from '../headers/common.ts'
import { matchNames, rangeOf } from '../headers/conditional.ts'
import { type ImageHeaders, imageHeaders } from '../headers/image-headers.ts'
import type { Log } from '../log.ts'
import {
  type ConditionHeader,
  createImageAnswers,
  isNotModified,
  notFound,
  PreconditionFailed,
  type RawRequest,
} from './image-answers.ts'
import { createPreviews, PREVIEW_PREFIX } from './preview.ts'
import { parseTarget, type Target } from './raw-target.ts'

/** Conditions that only a record answers. */
const DECIDERS: readonly ConditionHeader[] = ['if-match', 'if-none-match', 'if-range']

/**
 * `null` if the target is no address of an image's bytes. An image in memory is answered at once: a promise would cost
 * a tenth of the answer. Never throws, never rejects.
 */
export type Raw = (request: RawRequest) => Answer | null | Promise<Answer>

const DOWNLOAD = '?dl=1'

const RAW_PREFIX = rawPath('')
const ID_END = RAW_PREFIX.length + ID_LENGTH

/** Whether a target may be answered here. */
export function isRawTarget(target: string): boolean {
  return target.startsWith(RAW_PREFIX) || target.startsWith(PREVIEW_PREFIX)
}

export function createRaw(parts: {
  images: Images
  /** The image if it is in memory, where the store has one. */
  hot?: (id: string) => StoredImage | null
  cdn: Cdn | null
  baseUrl: string
  site: Site
  log: Log
  /** Whether nobody is shown a picture now. */
  isPrivate: () => boolean
  expiryClock: Pick<ExpiryClock, 'latest'>
}): Raw {
  const { isPrivate, expiryClock } = parts
  const common = commonHeaders(parts.baseUrl).flat()
  const answers = createImageAnswers(common, parts.site, parts.log)
  const previews = createPreviews({ ...parts, common, answers, resizer: parts.site.facts.resizer })
  const known = new WeakMap<ImageRecord, ImageHeaders>()

  /** Made anew for an image that expires: what is left changes by the second. */
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
    // Only here is a record an object that comes again. Entries for records read from disk would all be garbage at once.
    if (record.expiresAt === undefined && !known.has(record)) known.set(record, headersOf(record))
    return image
  }

  /** The whole of an image in memory, or `null` if that is not what is asked for, or not in this way. */
  function answerWhole(image: StoredImage, target: string): Answer | null {
    const { record, body, release } = image
    const known = headersOf(record)
    if (target.length === ID_END) {
      return { status: 200, headers: known.of('inline', true), body, release }
    }
    switch (target.slice(ID_END)) {
      case `.${EXTENSIONS[record.type]}`:
        return { status: 200, headers: known.of('inline', true), body, release }
      case DOWNLOAD:
      case `.${EXTENSIONS[record.type]}${DOWNLOAD}`:
        return { status: 200, headers: known.of('attachment', true), body, release }
      default:
        return null
    }
  }

  /** Opens the image once: its record decides what is wanted of it. */
  async function answerCold(request: RawRequest, target: Target): Promise<Answer> {
    const { id } = target
    const image = await parts.images.open(id, selectionOf(request, target), request.signal)
    if (image === null) throw notFound()
    try {
      return answerWith(request, target, image)
    } catch (error) {
      await dispose(image)
      throw error
    }
  }

  /** What is known before the record is seen, or a function of it. */
  function selectionOf(request: RawRequest, target: Target): Selection {
    if (isPlain(request)) return 'all'
    const decidesByRecord =
      request.method === 'HEAD' || DECIDERS.some((name) => request.header(name) !== undefined)
    if (decidesByRecord) return (record) => wantedOf(request, target, record)
    return rangeOf(request.header('range'), undefined, '') ?? 'all'
  }

  /** Throws what a precondition or the address refuses. */
  function wantedOf(request: RawRequest, target: Target, record: ImageRecord): Wanted {
    assertNamed(target, record)
    const { etag } = headersOf(record)
    const ifMatch = request.header('if-match')
    if (ifMatch !== undefined && !matchNames(ifMatch, etag)) throw new PreconditionFailed()
    if (isNotModified(request, etag) || request.method === 'HEAD') return 'nothing'
    return rangeOf(request.header('range'), request.header('if-range'), etag) ?? 'all'
  }

  /** `image`: opened as `selectionOf` says. */
  function answerWith(request: RawRequest, target: Target, image: StoredImage): Answer {
    const { record, range, body, release, reuse } = image
    assertNamed(target, record)
    const known = headersOf(record)
    const disposition = target.query === DOWNLOAD ? 'attachment' : 'inline'
    const headers = (isWhole: boolean) => known.of(disposition, isWhole)
    if (isNotModified(request, known.etag)) {
      return { status: 304, headers: headers(false), body: null, release }
    }
    if (request.method === 'HEAD') return { status: 200, headers: headers(true), body: null, release }
    if (range === undefined) return { status: 200, headers: headers(true), body, release, reuse }
    const { first, last } = range
    const length = ['Content-Length', `${last - first + 1}`]
    const place = ['Content-Range', `bytes ${first}-${last}/${record.size}`]
    return { status: 206, headers: [...headers(false), ...length, ...place], body, release, reuse }
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
      const isElsewhere = target === null || (target.query !== '' && target.query !== DOWNLOAD)
      if (!isElsewhere && image !== null) {
        return answerWith(request, target, part(image, wantedOf(request, target, image.record)))
      }
      image?.release?.()
      if (target === null) return null
      if (isElsewhere) return redirect(request.target, target.query)
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

/** Throws if the address has the extension of another type. */
function assertNamed({ extension }: Target, { type }: ImageRecord): void {
  if (extension !== undefined && extension !== EXTENSIONS[type]) throw notFound()
}

/** All of it, whatever the client has already. */
function isPlain({ method, isConditional }: RawRequest): boolean {
  return method === 'GET' && !isConditional
}

/** What is wanted of an image that is in memory. */
function part(image: StoredImage, wanted: Wanted): StoredImage {
  if (typeof wanted === 'string' || !(image.body instanceof Uint8Array)) return image
  const range = resolveRange(wanted, image.record.size)
  return { ...image, range, body: image.body.subarray(range.first, range.last + 1) }
}
