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
  type Selection,
  type StoredImage,
  type Wanted,
} from '../../stores/object-store.ts'
import type { Answer } from '../answer.ts'
import type { Site } from '../context.ts'
import { commonHeaders } from '../headers/common.ts'
import { rangeOf } from '../headers/conditional.ts'
import { type ImageHeaders, imageHeaders } from '../headers/image-headers.ts'
import type { Log } from '../log.ts'
import {
  answerWith,
  assertMatch,
  type ConditionHeader,
  createImageAnswers,
  notFound,
  partOf,
  type RawRequest,
  wantsNone,
} from './image-answers.ts'
import { createPreviews, PREVIEW_PREFIX } from './preview.ts'

/** Conditions that only a record answers. */
const DECIDERS: readonly ConditionHeader[] = ['if-match', 'if-none-match', 'if-range']

/**
 * `null` if the target is no address of an image's bytes. An image in memory is answered at once: a promise would cost
 * a tenth of the answer. Never throws, never rejects.
 */
export type Raw = (request: RawRequest) => Answer | null | Promise<Answer>

const DOWNLOAD = '?dl=1'

/** `/raw/<id>`, with its extension or without. */
const TARGET = /^\/raw\/([0-9A-Za-z]{11})(?:\.(jpg|png|gif|webp|avif))?(\?.*)?$/s

interface Target {
  id: string
  extension: string | undefined
  query: string
}

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
      return answerTo(request, target, image)
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
    assertMatch(request, etag)
    if (wantsNone(request, etag)) return 'nothing'
    return rangeOf(request.header('range'), request.header('if-range'), etag) ?? 'all'
  }

  /** `image`: opened as `selectionOf` says. */
  function answerTo(request: RawRequest, target: Target, image: StoredImage): Answer {
    const { record } = image
    assertNamed(target, record)
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
      const isElsewhere = target === null || (target.query !== '' && target.query !== DOWNLOAD)
      if (!isElsewhere && image !== null) {
        const wanted = wantedOf(request, target, image.record)
        return answerTo(request, target, partOf(image, wanted, image.record.size))
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

/** `null` if it is no address of an image's bytes. */
function parseTarget(target: string): Target | null {
  const match = TARGET.exec(target)
  return match === null ? null : { id: match[1]!, extension: match[2], query: match[3] ?? '' }
}
