/**
 * GET /raw/<id>: the one route that is answered thousands of times a second. It speaks no framework's language, so
 * that a host can write its answers straight to the socket.
 */
import type { Cdn } from '../../cdn/cdn.ts'
import { Refusal } from '../../errors.ts'
import { EXTENSIONS, ID_LENGTH, type Problem, REQUEST_ID_HEADER, rawPath } from '../../protocol.ts'
import type { Images } from '../../service/images.ts'
import {
  type ByteRange,
  type ImageRecord,
  resolveRange,
  type StoredImage,
  UnsatisfiableRange,
} from '../../stores/object-store.ts'
import { type Answer, problemAnswer } from '../answer.ts'
import { commonHeaders, NO_STORE } from '../headers/common.ts'
import { matchNames, noneMatchNames, rangeOf } from '../headers/conditional.ts'
import { type ImageHeaders, imageHeaders } from '../headers/image-headers.ts'
import type { Log } from '../log.ts'
import { logFault, problem, toProblem } from '../problem.ts'

export interface RawRequest {
  method: 'GET' | 'HEAD'
  /** Path and query, as sent. */
  target: string
  /** Whether it has any of the condition headers, beside an `If-Range` of no range. */
  isConditional: boolean
  header(name: ConditionHeader): string | undefined
}

export type ConditionHeader = 'if-match' | 'if-none-match' | 'if-range' | 'range'

/** Those that mean something on their own. In lower case. */
export const CONDITION_HEADERS: ReadonlySet<string> = new Set<ConditionHeader>([
  'if-match',
  'if-none-match',
  'range',
])

/** `If-Match` names another image (RFC 9110, 13.1.1). */
class PreconditionFailed extends Error {}

/**
 * `null` if the target is no address of an image's bytes. An image in memory is answered at once: a promise would cost
 * a tenth of the answer. Never throws, never rejects.
 */
export type Raw = (request: RawRequest) => Answer | null | Promise<Answer>

const DOWNLOAD = '?dl=1'

export const RAW_PREFIX = rawPath('')
/** Where an extension or a query begins. */
const ID_END = RAW_PREFIX.length + ID_LENGTH

const TARGET = /^\/raw\/([0-9A-Za-z]{11})(?:\.(jpg|png|gif|webp|avif))?(\?.*)?$/s

/** `hot`: the image if it is in memory, where the store has a memory. */
export function createRaw(parts: {
  images: Images
  hot?: (id: string) => StoredImage | null
  cdn: Cdn | null
  baseUrl: string
  log: Log
}): Raw {
  const common = commonHeaders(parts.baseUrl).flat()
  const known = new WeakMap<ImageRecord, ImageHeaders>()

  function headersOf(record: ImageRecord): ImageHeaders {
    let headers = known.get(record)
    if (headers === undefined) {
      headers = imageHeaders(record, common, parts.cdn)
      known.set(record, headers)
    }
    return headers
  }

  /** The whole of an image in memory, or `null` if that is not what is asked for, or not in this way. */
  function answerHot(request: RawRequest): Answer | null {
    const { target } = request
    if (parts.hot === undefined || !isPlain(request) || !target.startsWith(RAW_PREFIX)) return null
    const image = parts.hot(target.slice(RAW_PREFIX.length, ID_END))
    if (image === null) return null
    const { record, body, release } = image
    const { wholeInline, wholeDownload } = headersOf(record)
    if (target.length === ID_END) return { status: 200, headers: wholeInline, body, release }
    switch (target.slice(ID_END)) {
      case `.${EXTENSIONS[record.type]}`:
        return { status: 200, headers: wholeInline, body, release }
      case DOWNLOAD:
      case `.${EXTENSIONS[record.type]}${DOWNLOAD}`:
        return { status: 200, headers: wholeDownload, body, release }
      default:
        release?.()
        return null
    }
  }

  async function answer(request: RawRequest, { id, extension, query }: Target): Promise<Answer> {
    if (query !== '' && query !== DOWNLOAD) return redirect(request.target, query)
    const image = parts.hot?.(id) ?? (isPlain(request) ? await parts.images.open(id) : null)
    try {
      const record = image?.record ?? (isPlain(request) ? null : await parts.images.find(id))
      if (!record || (extension !== undefined && extension !== EXTENSIONS[record.type])) throw notFound()
      const answer = await answerWith(request, record, query === DOWNLOAD, image)
      if (answer.body === null) await dispose(image)
      return answer
    } catch (error) {
      await dispose(image)
      throw error
    }
  }

  async function answerWith(
    request: RawRequest,
    record: ImageRecord,
    isDownload: boolean,
    image: StoredImage | null,
  ): Promise<Answer> {
    const { etag, inline, download, wholeInline, wholeDownload } = headersOf(record)
    const headers = isDownload ? download : inline
    const whole = isDownload ? wholeDownload : wholeInline
    const ifMatch = request.header('if-match')
    if (ifMatch !== undefined && !matchNames(ifMatch, etag)) {
      throw new PreconditionFailed()
    }
    const ifNoneMatch = request.header('if-none-match')
    if (ifNoneMatch !== undefined && noneMatchNames(ifNoneMatch, etag)) {
      return { status: 304, headers, body: null }
    }
    if (request.method === 'HEAD') return { status: 200, headers: whole, body: null }

    const asked = rangeOf(request.header('range'), request.header('if-range'), etag)
    const opened = image === null ? await parts.images.open(record.id, asked) : part(image, asked)
    if (opened === null) throw notFound()
    const { range, body, release } = opened
    if (range === undefined) return { status: 200, headers: whole, body, release }
    const { first, last } = range
    const length = ['Content-Length', `${last - first + 1}`]
    const place = ['Content-Range', `bytes ${first}-${last}/${record.size}`]
    return { status: 206, headers: [...length, ...place, ...headers], body, release }
  }

  function redirect(target: string, query: string): Answer {
    const wantsDownload = query.slice(1).split('&').includes('dl=1')
    const path = target.slice(0, target.length - query.length)
    const location = `${parts.baseUrl}${path}${wantsDownload ? '?dl=1' : ''}`
    const headers = ['Location', location, 'Cache-Control', NO_STORE, 'Content-Length', '0', ...common]
    headers.push(REQUEST_ID_HEADER, crypto.randomUUID())
    return { status: 308, headers, body: null }
  }

  function refuse(error: unknown, method: string): Answer {
    if (error instanceof UnsatisfiableRange) {
      const answer = told(method, problem('range-not-satisfiable', `The image has ${error.size} bytes.`))
      answer.headers.push('Content-Range', `bytes */${error.size}`)
      return answer
    }
    if (error instanceof PreconditionFailed) {
      return told(method, problem('precondition-failed', 'The image is another one.'))
    }
    const requestId = crypto.randomUUID()
    logFault(parts.log, error, requestId)
    return told(method, toProblem(error), requestId)
  }

  function told(method: string, problem: Problem, requestId: string = crypto.randomUUID()): Answer {
    const answer = problemAnswer(problem, requestId, ['Access-Control-Allow-Origin', '*', ...common])
    return method === 'HEAD' ? { ...answer, body: null } : answer
  }

  function answerOther(request: RawRequest): Promise<Answer> | null {
    const match = TARGET.exec(request.target)
    if (match === null) return null
    const target = { id: match[1], extension: match[2], query: match[3] ?? '' }
    return answer(request, target).catch((error) => refuse(error, request.method))
  }

  return (request) => {
    try {
      return answerHot(request) ?? answerOther(request)
    } catch (error) {
      return refuse(error, request.method)
    }
  }
}

interface Target {
  id: string
  extension: string | undefined
  query: string
}

/** All of it, whatever the client has already. */
function isPlain({ method, isConditional }: RawRequest): boolean {
  return method === 'GET' && !isConditional
}

function notFound(): Refusal {
  return new Refusal('not-found', 'There is no such image. It may have been deleted.')
}

/** A range of an image that is in memory; all of it if none is asked for. */
function part(image: StoredImage, asked: ByteRange | undefined): StoredImage {
  if (asked === undefined || !(image.body instanceof Uint8Array)) return image
  const range = resolveRange(asked, image.record.size)
  return { ...image, range, body: image.body.subarray(range.first, range.last + 1) }
}

/** Lets go of an image that is not sent. */
async function dispose(image: { body: unknown; release?: (() => void) | undefined } | null): Promise<void> {
  image?.release?.()
  if (image?.body instanceof ReadableStream) await image.body.cancel()
}
