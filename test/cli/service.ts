/** A service that the test plays, for what a real one would not do. */
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'

export interface PlayedService {
  url: string
  /** Requests but for HEAD: what was uploaded. */
  uploads: IncomingMessage[]
}

/** `answer` gets every request but HEAD, which is answered as a service does: 405. */
export async function playedService(answer: RequestListener): Promise<PlayedService> {
  const uploads: IncomingMessage[] = []
  const server = createServer((request, response) => {
    if (request.method === 'HEAD') {
      response.writeHead(405).end()
      return
    }
    uploads.push(request)
    request.resume()
    request.on('end', () => answer(request, response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, uploads }
}
