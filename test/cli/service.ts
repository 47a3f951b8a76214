/** A fake service, for behaviour that a real one doesn't have. */
import type { IncomingMessage, RequestListener } from 'node:http'
import { listening } from '../support/listen.ts'

/** `answer` handles all requests except HEAD, which gets 405, as from a real service. `uploads`: the requests so far. */
export async function fakeService(
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
