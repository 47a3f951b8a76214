/** Signed requests to an S3 store, with a bounded number of retries. */
import { hash } from 'node:crypto'
import { backoffMs, sleep } from '../../async.ts'
import { StoreUnavailable } from '../object-store.ts'
import { type Failure, isRetryable, readFailure } from './response.ts'
import { type Credentials, createSigner, EMPTY_SHA256, queryOf } from './sign.ts'
import { createTransport, type Reply, type ReplyBody, type Transport } from './transport.ts'
import { addressOf, type S3Location } from './url.ts'

export interface RetryPolicy {
  /** Maximum number of attempts per request. */
  attempts: number
  /** No further attempt starts after this time. Unit: milliseconds. */
  giveUpAfterMs: number
  /** Timeout without a byte sent or received. Unit: milliseconds. */
  idleMs: number
  /** Maximum delay before the second attempt; it doubles with each further attempt. Unit: milliseconds. */
  firstPauseMs: number
  /** Timeout of a view, from its first request to its response, since a person is waiting. Unit: milliseconds. */
  viewMs: number
}

export const RETRY_POLICY: RetryPolicy = {
  attempts: 4,
  giveUpAfterMs: 15_000,
  idleMs: 10_000,
  firstPauseMs: 100,
  viewMs: 4500,
}

const MAX_PAUSE_MS = 2000

/** Maximum size of an XML response. A listing of 1000 keys is about 400 kB. */
const MAX_DOCUMENT_BYTES = 8 * 1024 * 1024

export interface S3Request {
  method: 'GET' | 'HEAD' | 'PUT' | 'DELETE'
  /** Default: the bucket itself. */
  key?: string
  query?: Record<string, string>
  headers?: Record<string, string>
  /** Bytes, or a function that returns a fresh source for every attempt. */
  body?: Uint8Array<ArrayBuffer> | (() => AsyncIterable<Uint8Array>)
  /** When to give up, by the `performance` clock. Default: as in the retry policy. */
  deadline?: number | undefined
  /** Overrides parts of the client's retry policy. */
  retryPolicy?: Partial<RetryPolicy> | undefined
  /** For the log. */
  operation: string
}

export type S3Result<T> = ({ value: T; failure: null } | { value: null; failure: Failure }) & {
  /** An earlier attempt ended without a conclusive response, so it may have taken effect. */
  isRetried: boolean
}

/** Both calls throw `StoreUnavailable` if no attempt got a conclusive response, and rethrow errors of the body's source. */
export interface S3Client {
  readonly retryPolicy: RetryPolicy
  /** Returns the response body as text. */
  request(request: S3Request): Promise<S3Result<string>>
  /** The caller must read or cancel the response body. */
  open(request: S3Request): Promise<S3Result<Reply>>
  close(): Promise<void>
}

export function createS3Client(
  location: S3Location,
  credentials: Credentials,
  options: { transport?: Transport | undefined; retryPolicy?: Partial<RetryPolicy> | undefined } = {},
): S3Client {
  const { host, origin } = new URL(addressOf(location))
  const sign = createSigner(credentials, { host, region: location.region })
  const transport = options.transport ?? createTransport(origin)
  const defaultPolicy = { ...RETRY_POLICY, ...options.retryPolicy }

  async function attempt(request: S3Request, idleMs: number): Promise<Reply> {
    const { method, key, query = {}, body: source } = request
    const body = typeof source === 'function' ? marked(source()) : source
    const headers = { ...request.headers }
    // The signature covers the payload, even an empty one.
    headers['x-amz-content-sha256'] ??= body instanceof Uint8Array ? hash('sha256', body) : EMPTY_SHA256
    const path = addressOf(location, key).slice(origin.length) || '/'
    const signed = sign({ method, path, query, headers })
    // The bytes must arrive as stored. Not signed, because proxies rewrite this header.
    signed['accept-encoding'] = 'identity'
    const search = queryOf(query)
    return transport.send({
      method,
      path: search === '' ? path : `${path}?${search}`,
      headers: signed,
      body,
      idleMs,
    })
  }

  async function withRetries<T>(
    request: S3Request,
    accept: (reply: Reply) => Promise<T>,
  ): Promise<S3Result<T>> {
    const retryPolicy = { ...defaultPolicy, ...request.retryPolicy }
    const startedAt = performance.now()
    for (let attempts = 1; ; attempts++) {
      const isRetried = attempts > 1
      let cause: unknown
      try {
        const reply = await attempt(request, idleTimeoutMs(retryPolicy, request, attempts))
        if (reply.status < 300) return { value: await accept(reply), failure: null, isRetried }
        const failure = readFailure(reply.status, await readText(reply), request.operation)
        if (!isRetryable(failure)) return { value: null, failure, isRetried }
        cause = new Error(`S3 answered ${failure.status} ${failure.code} ${failure.message}`.trimEnd())
      } catch (error) {
        if (error instanceof SourceFault) throw error.error
        cause = error
      }
      const { deadline = startedAt + retryPolicy.giveUpAfterMs } = request
      const isLate = performance.now() > deadline
      if (attempts >= retryPolicy.attempts || isLate) {
        throw new StoreUnavailable({
          cause: new Error(`no usable response in ${attempts} attempts (${request.operation})`, { cause }),
        })
      }
      await sleep(backoffMs(attempts - 1, { firstMs: retryPolicy.firstPauseMs, maxMs: MAX_PAUSE_MS }))
    }
  }

  return {
    retryPolicy: defaultPolicy,
    request: (request) => withRetries(request, readText),
    open: (request) => withRetries(request, async (reply) => reply),
    close: () => transport.close(),
  }
}

/**
 * Idle timeout of an attempt. The first attempt of a view gets a third of the total time, so that there is time for another
 * connection if this one hangs.
 */
function idleTimeoutMs({ idleMs, viewMs }: RetryPolicy, { deadline }: S3Request, attempt: number): number {
  if (deadline === undefined) return idleMs
  const left = Math.max(1, deadline - performance.now())
  return Math.min(idleMs, left, attempt === 1 ? viewMs / 3 : left)
}

/** Wraps an error of the body's source, which is not worth a retry. */
class SourceFault extends Error {
  readonly error: unknown

  constructor(error: unknown) {
    super('the body can’t be read')
    this.error = error
  }
}

async function readText({ body }: Reply): Promise<string> {
  return new TextDecoder().decode(await readAll(body, MAX_DOCUMENT_BYTES))
}

/** Reads a whole body. Throws if it exceeds `maxBytes`. */
export async function readAll(body: ReplyBody, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for (let chunk = await body.next(); chunk !== null; chunk = await body.next()) {
    size += chunk.length
    if (size > maxBytes) {
      body.cancel()
      throw new Error(`the store's response is longer than ${maxBytes} bytes`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Wraps errors of a body's source, to distinguish them from those of the store. */
async function* marked(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* source
  } catch (error) {
    throw new SourceFault(error)
  }
}
