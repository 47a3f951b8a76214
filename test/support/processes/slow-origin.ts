/** A proxy between a cache and a server that can delay responses the server has already sent. */
import { createServer, type IncomingHttpHeaders, request } from 'node:http'
import { end, listen } from '../listen.ts'

export interface SlowOrigin {
  readonly port: number
  /** Holds back responses for this target from now on. */
  hold(target: string): void
  /** Number of responses that are held back. */
  held(): number
  /** The headers of the last request. */
  lastHeaders(): IncomingHttpHeaders
  /** Sends the held responses and stops holding. */
  release(): void
  stop(): Promise<void>
}

export async function startSlowOrigin(serverPort: () => number): Promise<SlowOrigin> {
  let heldTarget: string | undefined
  let waiting: (() => void)[] = []
  let lastHeaders: IncomingHttpHeaders = {}
  const proxy = createServer((incoming, outgoing) => {
    const { method, url, headers } = incoming
    lastHeaders = headers
    const forwarded = request(
      { host: '127.0.0.1', port: serverPort(), method, path: url, headers },
      (answer) => {
        const pass = () => {
          outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
          answer.pipe(outgoing)
        }
        if (url === heldTarget) waiting.push(pass)
        else pass()
      },
    )
    forwarded.on('error', () => outgoing.destroy())
    incoming.pipe(forwarded)
  })
  return {
    port: await listen(proxy),
    hold(target) {
      heldTarget = target
    },
    held: () => waiting.length,
    lastHeaders: () => lastHeaders,
    release() {
      heldTarget = undefined
      for (const pass of waiting) pass()
      waiting = []
    },
    stop: () => end(proxy),
  }
}
