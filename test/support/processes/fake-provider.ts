/** A cache provider's API that answers as it is told, and keeps what it was asked. */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { end, listen } from '../listen.ts'

export interface Asked {
  method: string
  target: string
  headers: IncomingHttpHeaders
  body: string
}

/** An answer, or a fault: no answer at all, or a connection that ends in the middle of one. */
export type Script = { status: number; headers?: Record<string, string>; body?: string } | 'silence' | 'cut'

export interface FakeProvider {
  /** host:port */
  readonly host: string
  readonly asked: Asked[]
  /** For all requests from now on. */
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
    const told = script(request)
    if (told === 'silence') return
    if (told === 'cut') {
      outgoing.writeHead(200, { 'Content-Length': '1000' })
      outgoing.write('{"succ')
      setImmediate(() => outgoing.destroy())
      return
    }
    outgoing.writeHead(told.status, told.headers)
    outgoing.end(told.body)
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
