/** Signed requests to an S3 store, each tried a bounded number of times. */
import { hash } from 'node:crypto'
import { backoffMs, sleep } from '../../async.ts'
import { StoreUnavailable } from '../object-store.ts'
import { type Failure, isRetryable, readFailure } from './answer.ts'
import { type Credentials, createSigner, EMPTY_SHA256, queryOf } from './sign.ts'
import { createTransport, type Reply, type ReplyBody, type Transport } from './transport.ts'
import { addressOf, type S3Location } from './url.ts'

export interface RetryPolicy {
  /** Most times that one request is sent. */
  attempts: number
  /** No further attempt begins after this time. Unit: milliseconds. */
  giveUpAfterMs: number
  /** Gives up on a store that neither takes nor gives a byte for this long. Unit: milliseconds. */
  idleMs: number
  /** The longest pause before the second attempt; it doubles for each one after. Unit: milliseconds. */
  firstPauseMs: number
  /** From the first request of a view to its answer, since a person waits. Unit: milliseconds. */
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

/** The answer to a listing of 1000 keys is some 400 kB. */
const MAX_DOCUMENT_BYTES = 8 * 1024 * 1024

export interface S3Request {
  method: 'GET' | 'HEAD' | 'PUT' | 'DELETE'
  /** The bucket itself without one. */
  key?: string
  query?: Record<string, string>
  headers?: Record<string, string>
  /** Bytes, or a source of them that can be asked again for every attempt. */
  body?: Uint8Array<ArrayBuffer> | (() => AsyncIterable<Uint8Array>)
  /** When to give up, by the clock of `performance`; by default when the policy says. */
  answerBy?: number | undefined
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
  open(request: S3Request, retryPolicy?: Partial<RetryPolicy>): Promise<S3Answer<Reply>>
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
    let fault: SourceFault | undefined
    const { method, key, query = {}, body: given } = request
    const body =
      typeof given === 'function'
        ? watchSource(given(), (error) => {
            fault = new SourceFault(error)
          })
        : given
    const headers = { ...request.headers }
    // The signature covers the payload, also one of no bytes.
    headers['x-amz-content-sha256'] ??= body instanceof Uint8Array ? hash('sha256', body) : EMPTY_SHA256
    const path = addressOf(location, key).slice(origin.length) || '/'
    const signed = sign({ method, path, query, headers })
    // Not signed, because proxies rewrite it. Bytes must come as they are stored.
    signed['accept-encoding'] = 'identity'
    const search = queryOf(query)
    try {
      return await transport.send({
        method,
        path: search === '' ? path : `${path}?${search}`,
        headers: signed,
        body,
        idleMs,
      })
    } catch (error) {
      throw fault ?? error
    }
  }

  async function withRetries<T>(
    request: S3Request,
    changes: Partial<RetryPolicy> | undefined,
    accept: (reply: Reply) => Promise<T>,
  ): Promise<S3Answer<T>> {
    const retryPolicy = { ...defaultPolicy, ...changes }
    const startedAt = performance.now()
    for (let tried = 1; ; tried++) {
      const isRepeated = tried > 1
      let cause: unknown
      try {
        const reply = await attempt(request, patience(retryPolicy, request, tried))
        if (reply.status < 300) return { value: await accept(reply), failure: null, isRepeated }
        const failure = readFailure(reply.status, await readText(reply))
        if (!isRetryable(failure)) return { value: null, failure, isRepeated }
        cause = new Error(`S3 answered ${failure.status} ${failure.code} ${failure.message}`.trimEnd())
      } catch (error) {
        if (error instanceof SourceFault) throw error.error
        cause = error
      }
      const { answerBy = startedAt + retryPolicy.giveUpAfterMs } = request
      const isLate = performance.now() > answerBy
      if (tried >= retryPolicy.attempts || isLate) {
        throw new StoreUnavailable({
          cause: new Error(`no usable answer in ${tried} attempts (${request.doing})`, { cause }),
        })
      }
      await sleep(backoffMs(tried - 1, { firstMs: retryPolicy.firstPauseMs, maxMs: MAX_PAUSE_MS }))
    }
  }

  return {
    retryPolicy: defaultPolicy,
    ask: (request, retryPolicy) => withRetries(request, retryPolicy, readText),
    open: (request, retryPolicy) => withRetries(request, retryPolicy, async (reply) => reply),
    close: () => transport.close(),
  }
}

/**
 * How long an attempt may be idle. The first one of a view gets a third of the time, which leaves the rest for another
 * connection if this one hangs.
 */
function patience({ idleMs, viewMs }: RetryPolicy, { answerBy }: S3Request, tried: number): number {
  if (answerBy === undefined) return idleMs
  const left = Math.max(1, answerBy - performance.now())
  return Math.min(idleMs, left, tried === 1 ? viewMs / 3 : left)
}

/** What the body's own source threw: a retry would not help. */
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

/** All of a body that should be small. Throws past `maxBytes`. */
export async function readAll(body: ReplyBody, maxBytes: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let size = 0
  for (let piece = await body.next(); piece !== null; piece = await body.next()) {
    size += piece.length
    if (size > maxBytes) {
      body.cancel()
      throw new Error(`the store's answer is longer than ${maxBytes} bytes`)
    }
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

/** A body whose own faults can be told from the store's. */
async function* watchSource(
  source: AsyncIterable<Uint8Array>,
  fault: (error: unknown) => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield* source
  } catch (error) {
    fault(error)
    throw error
  }
}
