/**
 * HTTP requests to one server over a bounded connection pool. Uses undici's dispatcher directly: `undici.request` needs 1.2 to
 * 1.5 times as much CPU time, `fetch` three times as much.
 */
import { type Dispatcher, Pool } from 'undici'

export interface TransportRequest {
  method: string
  /** Includes the query, encoded. */
  path: string
  /** Lower-case names. */
  headers: Record<string, string>
  body?: Uint8Array | AsyncIterable<Uint8Array> | undefined
  /** Timeout without a byte sent or received. Unit: milliseconds. */
  idleMs: number
}

export interface Reply {
  status: number
  /** `name`: in lower case. */
  header(name: string): string | null
  body: ReplyBody
}

/** Must be read to the end or cancelled. */
export interface ReplyBody {
  /** `null` at the end. Throws if the connection breaks or times out. */
  next(): Promise<Uint8Array | null>
  /** Closes the connection. Harmless after the end. */
  cancel(): void
}

export interface Transport {
  send(request: TransportRequest): Promise<Reply>
  close(): Promise<void>
}

/** Maximum connections per process. Further requests queue, and each interrupts a paused body. */
const CONNECTIONS = 256

/** High-water mark of a response body's buffer, at which the socket is paused. Unit: bytes. */
const MAX_BUFFERED_BYTES = 128 * 1024

/** `origin`: scheme, host and port. */
export function createTransport(origin: string): Transport {
  const pool = new Pool(origin, { connections: CONNECTIONS, headersTimeout: 0, bodyTimeout: 0 })
  const exchanges: Exchanges = { open: 0, paused: new Set() }
  return {
    send: ({ idleMs, ...request }) => {
      const exchange = createExchange(idleMs, exchanges)
      // undici also accepts iterables, which its types omit.
      const body = exchange.watch(request.body) as Uint8Array
      pool.dispatch({ ...request, method: request.method as 'GET', body }, exchange.handler)
      return exchange.reply
    },
    close: () => pool.destroy(),
  }
}

/** State that the exchanges of a transport share. */
interface Exchanges {
  /** Number of requests in flight or queued. */
  open: number
  /** Interrupts of paused response bodies, longest paused first. */
  paused: Set<() => void>
}

/**
 * Interrupts a paused body if a request is queued for a connection. Otherwise a few hundred slow readers would hold every
 * connection. The reader of the body resumes it later with a range request.
 */
function makeRoom({ open, paused }: Exchanges): void {
  if (open > CONNECTIONS) paused.values().next().value?.()
}

/** One request and its reply. */
function createExchange(idleMs: number, exchanges: Exchanges) {
  exchanges.open++
  makeRoom(exchanges)
  const { promise: reply, resolve, reject } = Promise.withResolvers<Reply>()
  const buffered: Uint8Array[] = []
  let bufferedBytes = 0
  let connection: Dispatcher.DispatchController | undefined
  let isEnded = false
  let failure: Error | null = null
  let reader: PromiseWithResolvers<Uint8Array | null> | null = null
  // Whether headers or a chunk are awaited: the timeout must not count the time of a slow reader.
  let isAwaited = true
  let expiry: NodeJS.Immediate | undefined
  const timer = setTimeout(() => {
    expiry = afterPollPhase(() => {
      if (isAwaited) fail(new Error(`the store was idle for ${idleMs} ms`))
    })
  }, idleMs)

  function restartTimeout(): void {
    clearImmediate(expiry)
    timer.refresh()
  }

  const interrupt = () => fail(new Error('another request needed the connection'))

  function close(): void {
    clearTimeout(timer)
    exchanges.open--
    exchanges.paused.delete(interrupt)
  }

  function fail(error: Error): void {
    if (isEnded || failure !== null) return
    failure = error
    close()
    reject(error)
    reader?.reject(error)
    reader = null
    connection?.abort(error)
  }

  const body: ReplyBody = {
    async next() {
      const chunk = buffered.shift()
      if (chunk !== undefined) {
        bufferedBytes -= chunk.length
        if (failure === null && connection?.paused && bufferedBytes < MAX_BUFFERED_BYTES) {
          exchanges.paused.delete(interrupt)
          connection.resume()
        }
        return chunk
      }
      if (failure !== null) throw failure
      if (isEnded) return null
      reader = Promise.withResolvers()
      isAwaited = true
      restartTimeout()
      return reader.promise
    },
    cancel() {
      buffered.length = 0
      fail(new Error('the body was cancelled'))
    },
  }

  function deliver(chunk: Uint8Array | null): void {
    isAwaited = false
    reader?.resolve(chunk)
    reader = null
  }

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(controller) {
      connection = controller
      if (failure !== null) controller.abort(failure)
      else restartTimeout()
    },
    onResponseStart(_, status, headers) {
      if (status < 200) return
      isAwaited = false
      const header = (name: string) => textOf(headers[name])
      resolve({ status, header, body })
    },
    onResponseData(controller, chunk) {
      if (reader !== null) return deliver(chunk)
      buffered.push(chunk)
      bufferedBytes += chunk.length
      if (bufferedBytes < MAX_BUFFERED_BYTES) return
      controller.pause()
      exchanges.paused.add(interrupt)
      makeRoom(exchanges)
    },
    onResponseEnd() {
      if (failure !== null) return
      isEnded = true
      close()
      deliver(null)
    },
    onResponseError: (_, error) => fail(error),
  }

  /** Restarts the timeout with every chunk sent. */
  async function* refreshing(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      restartTimeout()
      yield chunk
    }
  }

  return {
    reply,
    handler,
    watch: (body: TransportRequest['body']) =>
      body === undefined || body instanceof Uint8Array ? body : refreshing(body),
  }
}

/**
 * Runs `callback` after the event loop's next poll phase. Timers run before it, so after this process was blocked or suspended,
 * a timeout would otherwise discard a response that is already in the socket.
 */
export function afterPollPhase(callback: () => void): NodeJS.Immediate {
  return setImmediate(callback)
}

function textOf(value: string | string[] | undefined): string | null {
  return value === undefined ? null : Array.isArray(value) ? value.join(', ') : value
}
