/** Proxy between browser and server that injects network faults. */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  request as requestOf,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { Transform } from 'node:stream'

export type Fault =
  | { kind: 'none' }
  /** Responds instead of the server. */
  | { kind: 'answer'; status: number; headers?: Record<string, string>; body?: string }
  /** Breaks the connection during the body, or instead of a response. */
  | { kind: 'cut' }
  /** Lets the server process the request, then drops its response. */
  | { kind: 'lose-answer' }
  /** Throttles the request body. */
  | { kind: 'slow'; bytesPerSecond: number }
  /** Stalls the request until `until` settles. */
  | { kind: 'hold'; until: Promise<unknown> }

export interface FaultProxy {
  readonly url: string
  /** The server's URL. Set it before the first request. */
  target: string
  /** Fault for uploads. Default: none. */
  onUpload: () => Fault
  /** Fault for other requests. Default: none. */
  onOther: (path: string) => Fault
  /** Number of upload requests so far, successful or not. */
  readonly uploads: number
  close(): Promise<void>
}

export const NONE: Fault = { kind: 'none' }

export const hold = (until: Promise<unknown>): Fault => ({ kind: 'hold', until })

export const NEVER = hold(new Promise(() => {}))

/** Refuses a request like the service. */
export function refused(status: number, error: string, detail = 'x'): Fault {
  const headers = { 'Content-Type': 'application/problem+json' }
  return { kind: 'answer', status, headers, body: JSON.stringify({ error, detail }) }
}

/** Applies `fault` to requests whose path contains `part`. */
export const at =
  (part: string, fault: Fault) =>
  (path: string): Fault =>
    path.includes(part) ? fault : NONE

export async function startFaultProxy(): Promise<FaultProxy> {
  const listener: RequestListener = (request, response) => {
    const path = request.url ?? '/'
    const isUpload = request.method === 'POST' && path === '/api/upload'
    if (isUpload) uploads++
    void handle(isUpload ? proxy.onUpload() : proxy.onOther(path), request, response, proxy.target)
  }
  let uploads = 0
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const proxy: FaultProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    target: '',
    onUpload: () => NONE,
    onOther: () => NONE,
    get uploads() {
      return uploads
    },
    close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      return closed
    },
  }
  return proxy
}

function throttle(bytesPerSecond: number): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      setTimeout(done, (1000 * chunk.length) / bytesPerSecond, null, chunk)
    },
  })
}

async function handle(
  fault: Fault,
  request: IncomingMessage,
  response: ServerResponse,
  target: string,
): Promise<void> {
  request.on('error', () => {})
  response.on('error', () => {})
  if (fault.kind === 'cut') {
    for (const name of ['data', 'end']) request.once(name, () => request.socket.destroy())
    request.resume()
    return
  }
  if (fault.kind === 'hold') await fault.until
  if (fault.kind === 'answer') {
    request.resume().on('end', () => response.writeHead(fault.status, fault.headers).end(fault.body))
    return
  }
  const forwarded = requestOf(
    new URL(request.url ?? '/', target),
    { method: request.method, headers: request.headers },
    (answer) => {
      if (fault.kind === 'lose-answer') {
        answer.resume().on('end', () => request.socket.destroy())
        return
      }
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
      answer.pipe(response)
    },
  )
  forwarded.on('error', () => response.destroy())
  if (fault.kind === 'slow') request.pipe(throttle(fault.bytesPerSecond)).pipe(forwarded)
  else request.pipe(forwarded)
}
