import { request as httpRequest } from 'node:http'
import { Readable } from 'node:stream'

/** A `fetch` that goes to this machine whatever host the address names: for names that no resolver knows. */
export function loopbackFetch(port: number): typeof fetch {
  return async (input, init) => {
    const request = input instanceof Request ? input : new Request(input, init)
    const url = new URL(request.url)
    return new Promise<Response>((resolve, reject) => {
      const outgoing = httpRequest(
        {
          host: '127.0.0.1',
          port,
          method: request.method,
          path: url.pathname + url.search,
          headers: { ...Object.fromEntries(request.headers), host: url.host },
          signal: request.signal,
        },
        (incoming) => {
          const headers = new Headers(incoming.headers as Record<string, string>)
          const isEmpty = incoming.statusCode === 204
          if (isEmpty) incoming.resume()
          const body = isEmpty ? null : (Readable.toWeb(incoming) as ReadableStream<Uint8Array>)
          resolve(new Response(body, { status: incoming.statusCode, headers }))
        },
      )
      outgoing.on('error', reject)
      if (request.body === null) outgoing.end()
      else
        Readable.fromWeb(request.body as never)
          .on('error', reject)
          .pipe(outgoing)
    })
  }
}
