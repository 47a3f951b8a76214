/** Requests on the admin server of a server under test: a socket in its data folder, or where it listens. */
import http from 'node:http'
import { join } from 'node:path'
import { type Answer, answerOf } from './http.ts'

/** `place`: the data folder, or what has the admin server's own address. */
export function atAdmin(
  place: string | { url: string },
  method: string,
  path: string,
  options: { headers?: Record<string, string>; form?: Record<string, string> } = {},
): Promise<Answer> {
  const body = options.form === undefined ? undefined : new URLSearchParams(options.form).toString()
  const type = body === undefined ? {} : { 'Content-Type': 'application/x-www-form-urlencoded' }
  return new Promise((resolve, reject) => {
    const outgoing = http.request(
      {
        ...(typeof place === 'string' ? { socketPath: join(place, 'operator.sock') } : addressOf(place.url)),
        method,
        path,
        headers: { ...(typeof place === 'string' ? { Host: 'operator' } : {}), ...type, ...options.headers },
        agent: false,
      },
      (incoming) => {
        const pieces: Buffer[] = []
        incoming.on('data', (piece) => pieces.push(piece))
        incoming.on('error', reject)
        incoming.on('end', () =>
          resolve(answerOf(incoming.statusCode!, incoming.rawHeaders, Buffer.concat(pieces))),
        )
      },
    )
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

function addressOf(url: string): { host: string; port: string } {
  const { hostname, port } = new URL(url)
  return { host: hostname, port }
}
