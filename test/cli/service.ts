/** A service that the test plays, for what a real one would not do. */
import type { IncomingMessage, RequestListener } from 'node:http'
import { listening } from '../support/listen.ts'

/**
 * `answer` gets every request but HEAD, which is answered as a service does: 405. `uploads`: those requests, as they come.
 */
export async function playedService(
  answer: RequestListener,
): Promise<{ url: string; uploads: IncomingMessage[] }> {
  const uploads: IncomingMessage[] = []
  const { url } = await listening((request, response) => {
    if (request.method === 'HEAD') return response.writeHead(405).end()
    uploads.push(request)
    request.resume()
    request.on('end', () => answer(request, response))
  })
  return { url, uploads }
}
