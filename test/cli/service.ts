/** A fake service, and a proxy in front of a real one, for behaviour that a real one doesn't have. */
import { type IncomingMessage, type RequestListener, request as sendRequest } from 'node:http'
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

/**
 * Forwards requests to a service. `mayPass` is called with the number of each upload; if false, the upload hangs. Responses to
 * uploads wait for `beforeAnswer`.
 */
export async function proxyTo(
  site: string,
  mayPass: (count: number) => boolean,
  beforeAnswer = async () => {},
): Promise<string> {
  let uploads = 0
  const { url } = await listening((request, response) => {
    const { method = '', headers } = request
    const isUpload = method === 'POST'
    if (isUpload && !mayPass(++uploads)) return
    const forwarded = sendRequest(new URL(request.url!, site), { method, headers }, async (answer) => {
      if (isUpload) await beforeAnswer()
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    request.pipe(forwarded)
  })
  return url
}
