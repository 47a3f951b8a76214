/**
 * GET /raw/<id>: the one route that is answered thousands of times a second. It speaks no framework's language, so
 * that a host can write its answers straight to the socket.
 */
import type { Cdn } from '../cdn/cdn.ts'
import { Refusal } from '../errors.ts'
import {
  CDN_MAX_AGE_SECONDS,
  EXTENSIONS,
  type Problem,
  RAW_MAX_AGE_SECONDS,
  REQUEST_ID_HEADER,
} from '../protocol.ts'
import type { Images } from '../service/images.ts'
import {
  type ByteRange,
  type ImageRecord,
  resolveRange,
  type StoredImage,
  UnsatisfiableRange,
} from '../stores/object-store.ts'
import { matchNames, noneMatchNames, rangeOf } from './conditional.ts'
import { commonHeaders, NO_STORE } from './headers.ts'
import type { Log } from './log.ts'
import { logFault, PROBLEM_TYPE, problem, problemOf } from './problem.ts'

export interface RawRequest {
  method: 'GET' | 'HEAD'
  /** Path and query, as sent. */
  target: string
  header(name: ConditionHeader): string | undefined
}

export type ConditionHeader = 'if-match' | 'if-none-match' | 'if-range' | 'range'

export interface RawAnswer {
  status: number
  /** Name, value, name, value, … */
  headers: string[]
  body: Uint8Array | ReadableStream<Uint8Array> | null
  /** To be called when the body has been sent, or never will be. */
  release?: (() => void) | undefined
}

/** `If-Match` names another image (RFC 9110, 13.1.1). */
class PreconditionFailed extends Error {}

/** `null` if the target is no address of an image's bytes. Never rejects. */
export type Raw = (request: RawRequest) => Promise<RawAnswer | null>

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

  async function answer(request: RawRequest, id: string, extension: string | undefined, query: string) {
    const isDownload = query === '?dl=1'
    if (query !== '' && !isDownload) return redirect(request.target, query)
    const isConditional =
      request.header('if-match') !== undefined ||
      request.header('if-none-match') !== undefined ||
      request.header('range') !== undefined
    const isPlain = request.method === 'GET' && !isConditional
    const image = parts.hot?.(id) ?? (isPlain ? await parts.images.open(id) : null)
    try {
      const record = image?.record ?? (isPlain ? null : await parts.images.find(id))
      if (!record || (extension !== undefined && extension !== EXTENSIONS[record.type])) throw notFound()
      const answer = await answerWith(request, record, isDownload, image)
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
  ): Promise<RawAnswer> {
    const { etag, inline, download } = headersOf(record)
    const headers = isDownload ? download : inline
    const ifMatch = request.header('if-match')
    if (ifMatch !== undefined && !matchNames(ifMatch, etag)) {
      throw new PreconditionFailed()
    }
    const ifNoneMatch = request.header('if-none-match')
    if (ifNoneMatch !== undefined && noneMatchNames(ifNoneMatch, etag)) {
      return { status: 304, headers, body: null }
    }
    const whole = ['Content-Length', `${record.size}`, ...headers]
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

  function redirect(target: string, query: string): RawAnswer {
    const wantsDownload = query.slice(1).split('&').includes('dl=1')
    const path = target.slice(0, target.length - query.length)
    const location = `${parts.baseUrl}${path}${wantsDownload ? '?dl=1' : ''}`
    const headers = ['Location', location, 'Cache-Control', NO_STORE, 'Content-Length', '0', ...common]
    headers.push(REQUEST_ID_HEADER, crypto.randomUUID())
    return { status: 308, headers, body: null }
  }

  function refuse(error: unknown, method: string): RawAnswer {
    if (error instanceof UnsatisfiableRange) {
      const answer = told(method, problem(416, 'range-not-satisfiable', `The image has ${error.size} bytes.`))
      answer.headers.push('Content-Range', `bytes */${error.size}`)
      return answer
    }
    if (error instanceof PreconditionFailed) {
      return told(method, problem(412, 'precondition-failed', 'The image is another one.'))
    }
    const requestId = crypto.randomUUID()
    logFault(parts.log, error, requestId)
    return told(method, problemOf(error), requestId)
  }

  function told(method: string, problem: Problem, requestId: string = crypto.randomUUID()): RawAnswer {
    const body = new TextEncoder().encode(JSON.stringify(problem))
    const headers = ['Content-Type', PROBLEM_TYPE, 'Content-Length', `${body.length}`]
    headers.push('Cache-Control', NO_STORE, 'Access-Control-Allow-Origin', '*')
    headers.push(REQUEST_ID_HEADER, requestId, ...common)
    return { status: problem.status, headers, body: method === 'HEAD' ? null : body }
  }

  return async (request) => {
    const match = TARGET.exec(request.target)
    if (match === null) return null
    try {
      return await answer(request, match[1], match[2], match[3] ?? '')
    } catch (error) {
      return refuse(error, request.method)
    }
  }
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

interface ImageHeaders {
  etag: string
  inline: string[]
  download: string[]
}

function imageHeaders(record: ImageRecord, common: string[], cdn: Cdn | null): ImageHeaders {
  const { id, type, sha256 } = record
  const etag = `"${sha256}"`
  const shared = [
    ['Content-Type', type],
    ['Cache-Control', `public, max-age=${RAW_MAX_AGE_SECONDS}, immutable`],
    ['ETag', etag],
    ['Repr-Digest', `sha-256=:${hexToBase64(sha256)}:`],
    ['Accept-Ranges', 'bytes'],
    ['Content-Security-Policy', "default-src 'none'; sandbox"],
    ['Cross-Origin-Resource-Policy', 'cross-origin'],
    ['Access-Control-Allow-Origin', '*'],
    ['X-Robots-Tag', 'noindex'],
    ...sharedCacheHeaders(id, cdn),
  ].flat()
  const disposition = (kind: string) => `${kind}; filename="${id}.${EXTENSIONS[type]}"`
  return {
    etag,
    inline: [...shared, 'Content-Disposition', disposition('inline'), ...common],
    download: [...shared, 'Content-Disposition', disposition('attachment'), ...common],
  }
}

/** A shorter lifetime for caches that the operator can purge (RFC 9213), and the tag to purge by. */
function sharedCacheHeaders(id: string, cdn: Cdn | null): [string, string][] {
  const standard = {
    'CDN-Cache-Control': `public, max-age=${CDN_MAX_AGE_SECONDS}, must-revalidate`,
    'Cache-Tag': `i-${id}`,
  }
  return Object.entries({ ...standard, ...cdn?.cacheHeaders(id, CDN_MAX_AGE_SECONDS) })
}

function hexToBase64(hex: string): string {
  return btoa(hex.replace(/../g, (pair) => String.fromCharCode(Number.parseInt(pair, 16))))
}
