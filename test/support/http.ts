/** HTTP requests sent exactly as written: nothing is normalised, retried, followed or decoded. */
import http from 'node:http'
import https from 'node:https'
import { PATIENT_MS } from './until.ts'

export interface Answer {
  status: number
  headers: Headers
  body: Buffer
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests inspect arbitrary responses
  json(): any
}

export interface RequestOptions {
  /** A list produces one header line per element. */
  headers?: Record<string, string | string[]>
  /** Bytes are sent with a Content-Length, pieces as one chunk each. */
  body?: Uint8Array | Iterable<Uint8Array> | AsyncIterable<Uint8Array>
  timeoutMs?: number
}

/** `url`: of a server, or `unix:` followed by a socket path. */
export function request(
  url: string,
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<Answer> {
  const { protocol, hostname: host, port, pathname } = new URL(url)
  // Node expects IPv6 addresses without brackets.
  const hostname = host.replace(/^\[(.*)\]$/, '$1')
  const scheme = protocol === 'https:' ? https : http
  const { headers = {}, body, timeoutMs = PATIENT_MS } = options
  return new Promise((resolve, reject) => {
    const length = body instanceof Uint8Array ? { 'Content-Length': String(body.length) } : {}
    const outgoing = scheme.request(
      {
        ...(protocol === 'unix:' ? { socketPath: decodeURIComponent(pathname) } : { hostname, port }),
        method,
        path,
        headers: { ...length, ...headers },
        agent: false,
      },
      (incoming) => {
        const pieces: Buffer[] = []
        incoming.on('data', (piece) => pieces.push(piece))
        incoming.on('error', reject)
        incoming.on('end', () => {
          outgoing.destroy()
          resolve(answerOf(incoming.statusCode!, incoming.rawHeaders, Buffer.concat(pieces)))
        })
      },
    )
    outgoing.setTimeout(timeoutMs, () =>
      outgoing.destroy(new Error(`${method} ${path}: no response within ${timeoutMs} ms`)),
    )
    outgoing.on('error', reject)
    send(outgoing, body).catch(reject)
  })
}

async function send(outgoing: http.ClientRequest, body: RequestOptions['body']): Promise<void> {
  if (body === undefined || body instanceof Uint8Array) {
    outgoing.end(body)
    return
  }
  outgoing.flushHeaders()
  for await (const piece of body) {
    if (outgoing.destroyed) return
    if (!outgoing.write(piece)) await drained(outgoing)
  }
  outgoing.end()
}

function drained(outgoing: http.ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    outgoing.once('drain', resolve)
    outgoing.once('close', resolve)
  })
}

export function answerOf(status: number, rawHeaders: string[], body: Buffer): Answer {
  const headers = new Headers()
  for (let i = 0; i < rawHeaders.length; i += 2) headers.append(rawHeaders[i]!, rawHeaders[i + 1]!)
  return {
    status,
    headers,
    body,
    // Decoded lazily: most bodies are megabytes of image data.
    get text() {
      return body.toString('utf8')
    },
    json: () => JSON.parse(body.toString('utf8')),
  }
}
