/** A fake of a cache provider's API with scripted responses. Records all requests. */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { end, listen } from '../listen.ts'

export interface Asked {
  method: string
  target: string
  headers: IncomingHttpHeaders
  body: string
}

/** A response, or a fault: no response at all, or a connection that is closed in the middle of one. */
export type Script =
  | { status: number; reason?: string; headers?: Record<string, string>; body?: string }
  | 'silence'
  | 'cut'

export interface FakeProvider {
  /** host:port */
  readonly host: string
  readonly asked: Asked[]
  /** Sets the response to all further requests. */
  answer(script: Script | ((asked: Asked) => Script)): void
  stop(): Promise<void>
}

export async function startFakeProvider(): Promise<FakeProvider> {
  const asked: Asked[] = []
  let script: (asked: Asked) => Script = () => ({ status: 500 })
  const server = createServer(async (incoming, outgoing) => {
    const request: Asked = {
      method: incoming.method ?? '',
      target: incoming.url ?? '',
      headers: incoming.headers,
      body: (await buffer(incoming)).toString(),
    }
    asked.push(request)
    const response = script(request)
    if (response === 'silence') return
    if (response === 'cut') {
      outgoing.writeHead(200, { 'Content-Length': '1000' })
      outgoing.write('{"succ')
      setImmediate(() => outgoing.destroy())
      return
    }
    outgoing.writeHead(response.status, response.reason, response.headers)
    outgoing.end(response.body)
  })
  return {
    host: `127.0.0.1:${await listen(server)}`,
    asked,
    answer(next) {
      script = typeof next === 'function' ? next : () => next
    },
    stop: () => end(server),
  }
}
