/**
 * Fake of db0/pictrs-safety: `POST /api/v1/scan/IPADDR` with the bytes of one image and its `Content-Type`. Answers 200 with
 * `{"message": "Image OK"}`, even on internal errors, and 406 for illegal images (pictrs_safety_api/apis/v1/base.py). Tests can
 * set another behaviour per image.
 */
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { end, listen } from './listen.ts'
import { sha256Of } from './sha256.ts'

export interface Asked {
  sha256: string
  type: string | undefined
  length: string | undefined
  /** Digest from our `Pinhole-SHA256` header. */
  announced: string | string[] | undefined
  authorization: string | undefined
}

/** How the scanner treats an image. `silent`: never answers. `drip`: never completes its response. `endless`: sends forever. */
export type Behaviour =
  | 'clean'
  | 'csam'
  | 'silent'
  | 'drip'
  | 'endless'
  | 'reset'
  | { status: number; body: string; headers?: Record<string, string> }

export interface FakeScanner {
  /** For `SCANNER_URL`. */
  url: string
  /** Behaviour by SHA-256 of the image. */
  readonly answers: Map<string, Behaviour>
  /** Behaviour for all other images. */
  otherwise: Behaviour
  readonly asked: Asked[]
  /** Peak number of concurrent requests of at least a second. */
  maxAtOnce(): number
  /** How often this image was scanned. */
  looksAt(bytes: Uint8Array): number
  close(): Promise<void>
}

export const verdict = (verdict: string, more: object = {}): Behaviour => ({
  status: 200,
  body: JSON.stringify({ verdict, ...more }),
})

const SCAN_PATH = '/api/v1/scan/IPADDR'
/** Time within which the server notices that a client aborted its request. */
const SETTLE_MS = 1000
const PIECE = Buffer.alloc(1024, ' ')

export async function startFakeScanner(): Promise<FakeScanner> {
  let active = 0
  let peak = 0
  const server = createServer(async (incoming, outgoing) => {
    let isCounted = false
    // Delayed, since a request may arrive before the end of the one it follows is noticed.
    const timer = setTimeout(() => {
      isCounted = true
      peak = Math.max(peak, ++active)
    }, SETTLE_MS)
    outgoing.once('close', () => {
      clearTimeout(timer)
      if (isCounted) active--
    })
    incoming.on('error', () => {})
    await answer(incoming, outgoing).catch(() => outgoing.destroy())
  })
  const fake: FakeScanner = {
    url: '',
    answers: new Map(),
    otherwise: 'clean',
    asked: [],
    maxAtOnce: () => peak,
    looksAt: (bytes) => fake.asked.filter(({ sha256 }) => sha256 === sha256Of(bytes)).length,
    close: () => end(server),
  }

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method, url, headers } = incoming
    const respond = (status: number, message: string) =>
      outgoing.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify({ message }))
    if (method !== 'POST' || url !== SCAN_PATH) return void respond(401, 'You are not authorized')
    const hash = createHash('sha256')
    for await (const piece of incoming) hash.update(piece)
    const sha256 = hash.digest('hex')
    const { 'content-type': type, 'content-length': length, authorization } = headers
    fake.asked.push({ sha256, type, length, announced: headers['pinhole-sha256'], authorization })
    const behaviour = fake.answers.get(sha256) ?? fake.otherwise
    if (behaviour === 'clean') respond(200, 'Image OK')
    else if (behaviour === 'csam') respond(406, 'Potential CSAM Image detected')
    else if (behaviour === 'reset') incoming.socket.resetAndDestroy()
    else if (behaviour === 'drip') outgoing.writeHead(200).write('{')
    else if (behaviour === 'endless') sendEndlessly(outgoing)
    else if (behaviour !== 'silent')
      outgoing.writeHead(behaviour.status, behaviour.headers).end(behaviour.body)
  }

  fake.url = `http://127.0.0.1:${await listen(server)}${SCAN_PATH}`
  return fake
}

/** Sends until the connection is closed. */
function sendEndlessly(outgoing: ServerResponse): void {
  const more = () => {
    while (!outgoing.destroyed && outgoing.write(PIECE));
  }
  outgoing.writeHead(200).on('drain', more)
  more()
}
