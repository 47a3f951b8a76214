/**
 * Requests to one server over a bounded number of connections, on undici's dispatcher. undici's own `request` took 1.2 to
 * 1.5 of its processor time, `fetch` three times as much.
 */
import { type Dispatcher, Pool } from 'undici'

export interface TransportRequest {
  method: string
  /** With the query, as it is sent. */
  path: string
  /** Names in lower case. */
  headers: Record<string, string>
  body?: Uint8Array | AsyncIterable<Uint8Array> | undefined
  /** Gives up on a server that neither takes nor gives a byte for this long. Unit: milliseconds. */
  idleMs: number
}

export interface Reply {
  status: number
  /** By name in lower case. */
  header(name: string): string | null
  body: ReplyBody
}

/** To be read to its end, or cancelled. */
export interface ReplyBody {
  /** `null` after the last. Throws if the connection breaks or is idle. */
  next(): Promise<Uint8Array | null>
  /** Closes the connection. Harmless after the end. */
  cancel(): void
}

export interface Transport {
  send(request: TransportRequest): Promise<Reply>
  close(): Promise<void>
}

/** Per process. Further requests queue. */
const CONNECTIONS = 256

/** Most of a body that is buffered; then the socket is paused. Unit: bytes. */
const WAITING_BYTES = 128 * 1024

/** `origin`: scheme, host and port. */
export function createTransport(origin: string): Transport {
  const pool = new Pool(origin, { connections: CONNECTIONS, headersTimeout: 0, bodyTimeout: 0 })
  return {
    send: ({ idleMs, ...request }) => {
      const exchange = createExchange(idleMs)
      // An iterable is a body too, which the types leave out.
      const body = exchange.watch(request.body) as Uint8Array
      pool.dispatch({ ...request, method: request.method as 'GET', body }, exchange.handler)
      return exchange.reply
    },
    close: () => pool.destroy(),
  }
}

/** One request and its reply. */
function createExchange(idleMs: number) {
  const { promise: reply, resolve, reject } = Promise.withResolvers<Reply>()
  const waiting: Uint8Array[] = []
  let waitingBytes = 0
  let connection: Dispatcher.DispatchController | undefined
  let isEnded = false
  let failure: Error | null = null
  let reader: PromiseWithResolvers<Uint8Array | null> | null = null
  // True while the headers or a piece are awaited; a slow reader is no reason to give up.
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

  function fail(error: Error): void {
    if (isEnded || failure !== null) return
    failure = error
    clearTimeout(timer)
    reject(error)
    reader?.reject(error)
    reader = null
    connection?.abort(error)
  }

  const body: ReplyBody = {
    async next() {
      const piece = waiting.shift()
      if (piece !== undefined) {
        waitingBytes -= piece.length
        if (connection?.paused && waitingBytes < WAITING_BYTES) connection.resume()
        return piece
      }
      if (failure !== null) throw failure
      if (isEnded) return null
      reader = Promise.withResolvers()
      isAwaited = true
      restartTimeout()
      return reader.promise
    },
    cancel() {
      waiting.length = 0
      fail(new Error('the body was cancelled'))
    },
  }

  function give(piece: Uint8Array | null): void {
    isAwaited = false
    reader?.resolve(piece)
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
    onResponseData(controller, piece) {
      if (reader !== null) return give(piece)
      waiting.push(piece)
      waitingBytes += piece.length
      if (waitingBytes >= WAITING_BYTES) controller.pause()
    },
    onResponseEnd() {
      isEnded = true
      clearTimeout(timer)
      give(null)
    },
    onResponseError: (_, error) => fail(error),
  }

  /** Each piece that is sent shows that the server lives. */
  async function* refreshing(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      restartTimeout()
      yield piece
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
 * Runs `act` after the event loop's next poll phase. Expired timers run before it: when this process was blocked or suspended,
 * a timeout would otherwise discard an answer that is already in the socket.
 */
export function afterPollPhase(act: () => void): NodeJS.Immediate {
  return setImmediate(act)
}

function textOf(value: string | string[] | undefined): string | null {
  return value === undefined ? null : Array.isArray(value) ? value.join(', ') : value
}
