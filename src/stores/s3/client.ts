/** Signed requests to an S3 store, each tried a bounded number of times. Web standards only. */
import { AwsClient } from 'aws4fetch'
import { StoreUnavailable } from '../object-store.ts'
import { type Failure, isRetryable, readFailure } from './answer.ts'
import { readAll } from './body.ts'
import { sha256Of } from './digest.ts'
import { addressOf, encodeName, type S3Location } from './url.ts'

export interface RetryPolicy {
  /** Most times that one request is sent. */
  attempts: number
  /** No further attempt begins after this time. Unit: milliseconds. */
  giveUpAfterMs: number
  /** A store that neither takes nor gives a byte for so long is as good as gone. Unit: milliseconds. */
  idleMs: number
  /** The longest pause before the second attempt; it doubles for each one after. Unit: milliseconds. */
  firstPauseMs: number
}

export const RETRY_POLICY: RetryPolicy = {
  attempts: 4,
  giveUpAfterMs: 15_000,
  idleMs: 10_000,
  firstPauseMs: 100,
}

const NOTHING = new Uint8Array()

const LONGEST_PAUSE_MS = 2000

/** The answer to a listing of 1000 keys is some 400 KB. */
const MAX_DOCUMENT_BYTES = 8 * 1024 * 1024

export interface S3Request {
  method: 'GET' | 'HEAD' | 'PUT' | 'DELETE'
  /** The bucket itself without one. */
  key?: string
  query?: Record<string, string>
  headers?: Record<string, string>
  /** Bytes, or a source of them that can be asked again for every attempt. */
  body?: Uint8Array<ArrayBuffer> | (() => AsyncIterable<Uint8Array>)
  /** For the log. */
  doing: string
}

/** One of `value` and `failure` is set. */
export interface S3Answer<T> {
  /** What a success brought. */
  value: T | null
  failure: Failure | null
  /** An earlier attempt ended without a clear answer: it may have been carried out. */
  isRepeated: boolean
}

/** Both throw `StoreUnavailable` if no attempt got a clear answer, and what the body's source throws. */
export interface S3Client {
  readonly retryPolicy: RetryPolicy
  /** The answer's body has been read as text. */
  ask(request: S3Request, retryPolicy?: Partial<RetryPolicy>): Promise<S3Answer<string>>
  /** The answer's body is the caller's to read or cancel. */
  open(request: S3Request, retryPolicy?: Partial<RetryPolicy>): Promise<S3Answer<Response>>
}

export interface Credentials {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string
}

export function createS3Client(
  location: S3Location,
  credentials: Credentials,
  options: { fetch?: typeof fetch; retryPolicy?: Partial<RetryPolicy> } = {},
): S3Client {
  const aws = new AwsClient({ ...credentials, service: 's3', region: location.region })
  const send = options.fetch ?? ((request: Request) => fetch(request))
  const defaultPolicy = { ...RETRY_POLICY, ...options.retryPolicy }

  async function attempt(request: S3Request, idleMs: number): Promise<Response> {
    const watch = watchIdle(idleMs)
    let sourceFault: SourceFault | undefined
    try {
      const headers = new Headers(request.headers)
      const body =
        typeof request.body === 'function'
          ? streamOf(request.body(), watch.touch, (error) => {
              sourceFault = new SourceFault(error)
            })
          : request.body
      if (body instanceof Uint8Array) headers.set('content-length', String(body.length))
      // The signature covers the payload, also one of no bytes: nobody can change it on the way.
      if (!headers.has('x-amz-content-sha256')) {
        headers.set('x-amz-content-sha256', await sha256Of(body instanceof Uint8Array ? body : NOTHING))
      }
      const init = {
        method: request.method,
        headers,
        body,
        redirect: 'manual',
        duplex: 'half',
      } as RequestInit
      const signed = await aws.sign(locate(request), { ...init, signal: watch.signal })
      // Not signed, because proxies rewrite it. Bytes must come as they are stored.
      signed.headers.set('accept-encoding', 'identity')
      return await send(signed)
    } catch (error) {
      if (sourceFault !== undefined) throw sourceFault
      throw watch.signal.aborted ? watch.signal.reason : error
    } finally {
      watch.stop()
    }
  }

  function locate({ key, query }: S3Request): string {
    const search = Object.entries(query ?? {}).map(([name, value]) => `${name}=${encodeName(value)}`)
    return addressOf(location, key) + (search.length > 0 ? `?${search.join('&')}` : '')
  }

  async function withRetries<T>(
    request: S3Request,
    changes: Partial<RetryPolicy> | undefined,
    accept: (response: Response, idleMs: number) => Promise<T>,
  ): Promise<S3Answer<T>> {
    const retryPolicy = { ...defaultPolicy, ...changes }
    const startedAt = performance.now()
    for (let tried = 1; ; tried++) {
      const isRepeated = tried > 1
      let cause: unknown
      try {
        const response = await attempt(request, retryPolicy.idleMs)
        if (response.ok)
          return { value: await accept(response, retryPolicy.idleMs), failure: null, isRepeated }
        const text = await readText(response, retryPolicy.idleMs)
        const failure = readFailure(response.status, response.headers, text)
        if (!isRetryable(failure)) return { value: null, failure, isRepeated }
        cause = new Error(`S3 answered ${failure.status} ${failure.code} ${failure.message}`.trimEnd())
      } catch (error) {
        if (error instanceof SourceFault) throw error.error
        cause = error
      }
      const isLate = performance.now() - startedAt > retryPolicy.giveUpAfterMs
      if (tried >= retryPolicy.attempts || isLate) {
        throw new StoreUnavailable({
          cause: new Error(`no usable answer in ${tried} attempts (${request.doing})`, { cause }),
        })
      }
      await pause(tried, retryPolicy.firstPauseMs)
    }
  }

  return {
    retryPolicy: defaultPolicy,
    ask: (request, retryPolicy) => withRetries(request, retryPolicy, readText),
    open: (request, retryPolicy) => withRetries(request, retryPolicy, async (response) => response),
  }
}

/** What the body's own source threw: the store has no part in it, and a retry would not help. */
class SourceFault extends Error {
  readonly error: unknown

  constructor(error: unknown) {
    super('the body can’t be read')
    this.error = error
  }
}

async function readText(response: Response, idleMs: number): Promise<string> {
  return new TextDecoder().decode(await readAll(response, MAX_DOCUMENT_BYTES, idleMs))
}

/** Full jitter: many processes that failed together do not come back together. */
function pause(tried: number, firstPauseMs: number): Promise<void> {
  const longestMs = Math.min(LONGEST_PAUSE_MS, firstPauseMs * 2 ** (tried - 1))
  return new Promise((resolve) => setTimeout(resolve, Math.random() * longestMs))
}

function streamOf(
  chunks: AsyncIterable<Uint8Array>,
  progress: () => void,
  fault: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        progress()
        try {
          const { value, done } = await iterator.next()
          if (done) controller.close()
          else controller.enqueue(value)
        } catch (error) {
          fault(error)
          throw error
        }
      },
      async cancel() {
        await iterator.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}

function watchIdle(idleMs: number) {
  const abort = new AbortController()
  const giveUp = () => abort.abort(new Error(`the store was idle for ${idleMs} ms`))
  let timer = setTimeout(giveUp, idleMs)
  let isStopped = false
  return {
    signal: abort.signal,
    touch: () => {
      clearTimeout(timer)
      if (!isStopped) timer = setTimeout(giveUp, idleMs)
    },
    stop: () => {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
