/** A scripted server: each request consumes one step. Records all requests. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Endpoint } from '../../../src/client/api/endpoint.ts'
import { fetchTransport } from '../../../src/client/api/fetch.ts'
import { listening } from '../../support/listen.ts'

export const SENT = {
  id: 'abcdefghijk',
  link: 'https://pics.example/abcdefghijk',
  key: `abcdefghijk${'K'.repeat(32)}`,
  delete: `https://pics.example/api/delete?key=abcdefghijk${'K'.repeat(32)}`,
}

type Step =
  | { status: number; headers?: Record<string, string>; body?: object | string }
  /** Reads the whole request, then closes the connection without a response. */
  | 'lose the reply'
  /** Closes the connection before reading the body. */
  | 'cut'
  /** Never responds. */
  | 'hang'

/** `slept`: the client's waits between attempts. Unit: seconds. */
export async function fakeService(...steps: Step[]) {
  const requests: { method: string; url: string; headers: IncomingMessage['headers']; body: Buffer }[] = []
  const slept: number[] = []
  const { url } = await listening((request, response) => {
    const step = steps.shift()
    if (step === undefined) throw new Error('more requests than steps')
    const { method, url, headers } = request
    const received = { method: method!, url: url!, headers, body: Buffer.alloc(0) }
    if (step === 'cut') {
      requests.push(received)
      request.socket.destroy()
      return
    }
    const parts: Buffer[] = []
    request.on('data', (part) => parts.push(part))
    request.on('error', () => {})
    request.on('end', () => {
      requests.push({ ...received, body: Buffer.concat(parts) })
      if (step === 'lose the reply') request.socket.destroy()
      else if (step !== 'hang') answer(response, step)
    })
  })
  const endpoint: Endpoint = {
    address: (path) => url + path,
    transport: fetchTransport,
    clock: {
      random: () => 0,
      now: () => slept.reduce((sum, seconds) => sum + seconds, 0) * 1000,
      online: async () => {},
      async sleep(seconds, signal) {
        signal?.throwIfAborted()
        slept.push(seconds)
      },
    },
  }
  return { url, requests, slept, endpoint }
}

function answer(response: ServerResponse, { status, headers, body = '' }: Exclude<Step, string>): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  response.writeHead(status, headers)
  response.end(text)
}
