/**
 * Stands in for db0/pictrs-safety: `POST /api/v1/scan/IPADDR` with the bytes of one image and its `Content-Type`; 200 with
 * `{"message": "Image OK"}`, also for every fault of its own, 406 for what must not be here (pictrs_safety_api/apis/v1/base.py).
 * For images that a test names it answers as the test says.
 */
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { end, listen } from './listen.ts'
import { sha256Of } from './sha256.ts'

export interface Asked {
  sha256: string
  type: string | undefined
  length: string | undefined
  /** As announced, by our own header. */
  announced: string | string[] | undefined
  authorization: string | undefined
}

/** What it does with an image. `silent`: it never answers. `drip`: it never ends its answer. */
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
  /** By SHA-256. */
  readonly answers: Map<string, Behaviour>
  /** For all others. */
  otherwise: Behaviour
  readonly asked: Asked[]
  /** Requests under way at once for a moment, at most. */
  maxAtOnce(): number
  /** How often this image was looked at. */
  looksAt(bytes: Uint8Array): number
  close(): Promise<void>
}

export const verdict = (verdict: string, more: object = {}): Behaviour => ({
  status: 200,
  body: JSON.stringify({ verdict, ...more }),
})

const SCAN_PATH = '/api/v1/scan/IPADDR'
/** After this long it is known here which requests their client gave up. */
const NOTICED_MS = 100
const PIECE = Buffer.alloc(1024, ' ')

export async function startFakeScanner(): Promise<FakeScanner> {
  let atOnce = 0
  let most = 0
  const server = createServer(async (incoming, outgoing) => {
    atOnce++
    outgoing.once('close', () => atOnce--)
    // A request may be seen here before the end of the one whose place it has.
    setTimeout(() => {
      most = Math.max(most, atOnce)
    }, NOTICED_MS)
    incoming.on('error', () => {})
    await answer(incoming, outgoing).catch(() => outgoing.destroy())
  })
  const fake: FakeScanner = {
    url: '',
    answers: new Map(),
    otherwise: 'clean',
    asked: [],
    maxAtOnce: () => most,
    looksAt: (bytes) => fake.asked.filter(({ sha256 }) => sha256 === sha256Of(bytes)).length,
    close: () => end(server),
  }

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method, url, headers } = incoming
    const say = (status: number, message: string) =>
      outgoing.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify({ message }))
    if (method !== 'POST' || url !== SCAN_PATH) return void say(401, 'You are not authorized')
    const hash = createHash('sha256')
    for await (const piece of incoming) hash.update(piece)
    const sha256 = hash.digest('hex')
    const { 'content-type': type, 'content-length': length, authorization } = headers
    fake.asked.push({ sha256, type, length, announced: headers['pinhole-sha256'], authorization })
    const does = fake.answers.get(sha256) ?? fake.otherwise
    if (does === 'clean') say(200, 'Image OK')
    else if (does === 'csam') say(406, 'Potential CSAM Image detected')
    else if (does === 'reset') incoming.socket.resetAndDestroy()
    else if (does === 'drip') outgoing.writeHead(200).write('{')
    else if (does === 'endless') spill(outgoing)
    else if (does !== 'silent') outgoing.writeHead(does.status, does.headers).end(does.body)
  }

  fake.url = `http://127.0.0.1:${await listen(server)}${SCAN_PATH}`
  return fake
}

/** Until nobody reads any more. */
function spill(outgoing: ServerResponse): void {
  const more = () => {
    while (!outgoing.destroyed && outgoing.write(PIECE));
  }
  outgoing.writeHead(200).on('drain', more)
  more()
}
