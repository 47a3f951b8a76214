/** The hosts that the HTTP contract runs against, and the visitors that it sends to them. */
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import type { UploadAnswer } from '../../../src/protocol.ts'
import { IS_WHOLE } from '../../support/extent.ts'
import { type FakeScanner, startFakeScanner } from '../../support/fake-scanner.ts'
import { type Answer, type RequestOptions, request } from '../../support/http.ts'
import { gif } from '../../support/images/tiny-images.ts'
import { type Form, formOf } from '../../support/multipart.ts'
import type { Env, Ran } from '../../support/processes/process.ts'
import { sha256Of } from '../../support/sha256.ts'
import { type Documented, readDocument, type Seen } from './document.ts'
import { checkAnswer, checkProblem } from './rules.ts'

export interface Host {
  /** URL to connect to, e.g. `http://127.0.0.1:41234`. */
  url: string
  /** Prefix of its absolute links. */
  baseUrl: string
  /** The header with the client address. `null` when the host uses the socket's peer address only. */
  clientHeader: 'X-Forwarded-For' | 'CF-Connecting-IP' | null
  /** True if no proxy reads or rewrites requests on their way to the server. */
  direct: boolean
  /** Runs behind Cloudflare's network, which resolves dot segments and compresses responses. Has no disk. */
  isEdge?: boolean
  /** Disk faults cannot be injected: built-in modules of Bun and Deno cannot be patched. */
  isDiskSound?: boolean
  /** Number of servers, each with its own upload queue. Default: 1. */
  servers?: number
  /** Its data directory, if the test can read it. */
  dataDir?: string
  /** Its log so far. */
  logs?: () => string
  /** Runs the operator command against the running host. */
  operator?: (words: string[]) => Promise<Ran>
  /** Disconnects the ledger, and also the store unless it is a local disk. The host is unusable afterwards. */
  breakDown(): Promise<unknown>
  stop(): Promise<unknown>
}

export type StartHost = (env?: Env) => Promise<Host>

export const STRICT = {
  BASE_URL: 'https://pics.example',
  UPLOADS_PER_DAY: '2',
  MAX_UPLOAD_BYTES: '4000',
  STRIP_METADATA: 'off',
  ALLOWED_ORIGINS: 'https://friend.example',
}

/** An imgproxy URL template (docs.imgproxy.net, usage/processing). */
export const RESIZER = 'https://img.example/insecure/rs:fit:1200:1200/plain/{url}'

const OPERATOR = { OPERATOR_NAME: 'Ada', OPERATOR_CONTACT: 'ada@ops.example' }

const MAX_WARNINGS = 20

const TRUSTED_PROXIES = '127.0.0.1/32,::ffff:10.0.0.0/104,2001:db8:ffff::/48'

/** Environment that preloads a test module into the server. */
function preload(file: string): Record<string, string> {
  return { NODE_OPTIONS: `--import ${new URL(`../../support/processes/${file}`, import.meta.url).href}` }
}

/** The hosts of a suite, each started on first use, and the state that all cases share. */
export type World = ReturnType<typeof createWorld>

export function createWorld(start: StartHost) {
  const started: Promise<Host>[] = []
  let fake: Promise<FakeScanner> | undefined
  const scanner = () => {
    fake ??= startFakeScanner()
    return fake
  }
  const once = (env: Env | (() => Promise<Env>)) => {
    let host: Promise<Host> | undefined
    return () => {
      if (!host) {
        host = typeof env === 'function' ? env().then(start) : start(env)
        started.push(host)
      }
      return host
    }
  }
  const seen: Seen = new Set()
  const documents = new Map<Host, Promise<Documented>>()
  const order = join(tmpdir(), `pinhole-order-${randomUUID()}`)
  return {
    /** Default settings; logs at the most verbose level. */
    main: once({ TRUSTED_PROXIES, LOG_LEVEL: 'trace', ...OPERATOR }),
    /** https base URL, low limits, metadata is kept. */
    strict: once(STRICT),
    /** Trusts no proxy. */
    bare: once({ TRUSTED_PROXIES: '', UPLOADS_PER_DAY: '3' }),
    paused: once({ UPLOADS: 'paused' }),
    capped: once({ DAILY_UPLOADS: '6', NETWORK_UPLOADS: '2' }),
    /** Images expire, and an external resizer makes the previews. */
    fleeting: once({ DEFAULT_EXPIRES: '1h', MAX_AGE_DAYS: '2', PREVIEW_TEMPLATE: RESIZER }),
    /** Publishes images only after a scanner's verdict. */
    scanned: once(async () => ({
      TRUSTED_PROXIES,
      SCAN: 'before',
      SCANNER_URL: (await scanner()).url,
      SCAN_FAULT: 'refuse',
      SCAN_SECONDS: '8',
    })),
    scanner,
    /** Low limits for concurrent and refused uploads. */
    frugal: once({
      TRUSTED_PROXIES,
      UPLOADS_AT_ONCE: '2',
      UPLOADS_PER_DAY: '4',
      REFUSALS_PER_DAY: '3',
      REFUSED_BYTES_PER_DAY: '100000',
    }),
    /** Challenges enabled; easy ones except in full test runs. */
    challenging: once({
      ...(IS_WHOLE ? {} : preload('light-work.ts')),
      TRUSTED_PROXIES,
      CHALLENGE: 'on',
      REFUSALS_PER_DAY: '30',
      ALLOWED_ORIGINS: 'https://friend.example',
    }),
    /** Its disk fails as the `order` file says, and its remote storage may be disconnected. */
    broken: once({ FAILING_DISK: order, ...preload('failing-disk.ts') }),
    /** File that controls disk faults: see `test/support/processes/failing-disk.ts`. */
    order,
    /** Short timeouts: gives up slow requests within a second. */
    hasty: once(preload('short-limits.ts')),
    /** Client addresses, which must never appear in a log or data file. */
    addresses: new Set<string>(),
    /** Deletion and idempotency keys, which must never appear in a log or data file. */
    keys: new Set<string>(),
    /** Documented responses that occurred. */
    seen,
    /** The API description of a host. */
    documented(host: Host): Promise<Documented> {
      let document = documents.get(host)
      if (document === undefined) {
        document = readDocument(host.url, seen)
        documents.set(host, document)
      }
      return document
    },
    /** The latest log lines of all hosts at level `warn` or above. */
    async warnings(): Promise<string> {
      const hosts = await Promise.allSettled(started)
      return hosts
        .flatMap((host) => (host.status === 'fulfilled' ? (host.value.logs?.() ?? '').split('\n') : []))
        .filter((line) => /"level":"?([456]0|warn|error|fatal)/.test(line))
        .slice(-MAX_WARNINGS)
        .join('\n')
    },
    async close(): Promise<void> {
      const hosts = await Promise.allSettled(started)
      await Promise.all(hosts.map((host) => host.status === 'fulfilled' && host.value.stop()))
      await (await fake)?.close()
      await rm(order, { force: true })
    },
  }
}

/** An image that a visitor stored. */
export interface Upload extends UploadAnswer {
  /** As sent. */
  bytes: Buffer
}

export interface Visitor {
  host: Host
  address: string
  /** The header that tells the host this address, if there is one. */
  identity: Record<string, string>
  /** Sends a request and checks the response against the rules for all responses. */
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>
  /** Checks a response that was received in another way. */
  check(answer: Answer, requested: { method: string; path: string }): void
  get(path: string, headers?: RequestOptions['headers']): Promise<Answer>
  /** Posts an arbitrary upload form. */
  post(form: Form, headers?: RequestOptions['headers'], query?: string): Promise<Answer>
  upload(bytes: Uint8Array, headers?: RequestOptions['headers'], query?: string): Promise<Answer>
  /** Posts a URL-encoded form. */
  submit(path: string, fields: Record<string, string>, headers?: RequestOptions['headers']): Promise<Answer>
  /** Reports an image through the JSON API. */
  report(given: object | string, headers?: RequestOptions['headers']): Promise<Answer>
  /** Uploads and expects success. */
  store(bytes?: Buffer): Promise<Upload>
  remove(key: string): Promise<Answer>
  /**
   * Asserts that every URL of the image responds with `status` and `code`, whatever the conditional headers, and that the
   * response may not be cached.
   */
  checkHidden(image: { id: string; bytes: Buffer }, status: number, code: string): Promise<void>
  /** Uploads left today. Does not use one. */
  remaining(): Promise<number>
}

let lastAddress = 0

/** An unused client address, with a full quota. 198.18.0.0/15 is reserved for tests (RFC 2544). */
export function freshAddress(): string {
  lastAddress += 1
  return `198.${18 + (lastAddress >> 16)}.${(lastAddress >> 8) & 255}.${lastAddress & 255}`
}

export async function visit(
  world: World,
  hostOf: () => Promise<Host>,
  address = freshAddress(),
): Promise<Visitor> {
  const host = await hostOf()
  const document = await world.documented(host)
  world.addresses.add(address)
  const identity: Record<string, string> = host.clientHeader ? { [host.clientHeader]: address } : {}
  const visitor: Visitor = {
    host,
    address,
    identity,
    async request(method, path, options = {}) {
      const headers = { ...identity, ...options.headers }
      const answer = await request(host.url, method, path, { ...options, headers })
      visitor.check(answer, { method, path })
      return answer
    },
    check(answer, requested) {
      checkAnswer(answer, { ...requested, https: host.baseUrl.startsWith('https:') })
      document.check(answer, requested)
    },
    get: (path, headers = {}) => visitor.request('GET', path, { headers }),
    async post({ body, contentType }, headers = {}, query = '') {
      const options = { headers: { 'Content-Type': contentType, ...headers }, body }
      const answer = await visitor.request('POST', `/api/upload${query}`, options)
      const isJson = answer.headers.get('Content-Type') === 'application/json'
      if (answer.status === 201 && isJson) world.keys.add(answer.json().key)
      return answer
    },
    upload: (bytes, headers, query) => visitor.post(formOf(bytes), headers, query),
    submit: (path, fields, headers = {}) =>
      visitor.request('POST', path, {
        headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
        body: Buffer.from(`${new URLSearchParams(fields)}`),
      }),
    report: (given, headers = {}) =>
      visitor.request('POST', '/api/report', {
        headers: { 'Content-Type': 'application/json', ...headers },
        body: Buffer.from(typeof given === 'string' ? given : JSON.stringify(given)),
      }),
    async store(bytes = gif()) {
      const answer = await visitor.upload(bytes)
      assert.equal(answer.status, 201, answer.text)
      return { ...(answer.json() as UploadAnswer), bytes }
    },
    async checkHidden({ id, bytes }, status, code) {
      const etag = `"${sha256Of(bytes)}"`
      const conditions: Record<string, string>[] = [
        {},
        { 'If-None-Match': etag },
        { 'If-None-Match': '*' },
        { Range: 'bytes=0-9' },
        { Range: 'bytes=999999-' },
        { Range: 'bytes=0-9', 'If-Range': etag },
        { 'If-Match': etag },
        { 'If-Modified-Since': 'Thu, 01 Jan 2099 00:00:00 GMT' },
        { 'Cache-Control': 'only-if-cached' },
      ]
      for (const path of [`/raw/${id}`, `/raw/${id}.gif`, `/raw/${id}?dl=1`, `/raw/${id}.gif?dl=1`]) {
        for (const headers of conditions) {
          const answer = await visitor.get(path, headers)
          checkProblem(answer, status, code)
          assert.equal(answer.headers.get('Cache-Control'), 'no-store')
          assert.doesNotMatch(answer.headers.get('CDN-Cache-Control') ?? 'no-store', /max-age=[1-9]/)
          assert.equal((await visitor.request('HEAD', path, { headers })).status, status)
        }
      }
    },
    remove: (key) => visitor.request('DELETE', `/api/delete?key=${key}`),
    async remaining() {
      // Refused in any case, so it does not change the quota.
      const answer = await visitor.request('PUT', '/api/upload')
      assert.equal(answer.status, 405, answer.text)
      return Number(answer.headers.get('X-RateLimit-Remaining'))
    },
  }
  return visitor
}

/** Returns why a case does not apply to a host, or `null`. */
type Needs = (host: Host) => string | null

/** Returns a function that defines a test case with a new visitor to the host. */
export function visitsTo(world: World, hostOf: () => Promise<Host>, needs: Needs = () => null) {
  return (title: string, run: (me: Visitor, t: TestContext) => Promise<unknown>): void => {
    it(title, async (t: TestContext) => {
      const me = await visit(world, hostOf)
      const why = needs(me.host)
      if (why !== null) t.skip(`does not apply: ${why}`)
      else await run(me, t)
    })
  }
}

export const needsOperator: Needs = ({ operator }) => (operator ? null : 'this host has no operator command')
export const needsDirect: Needs = ({ direct }) => (direct ? null : 'requests pass through a proxy')
export const needsFiles: Needs = ({ dataDir }) => (dataDir ? null : 'the test cannot read its files')
export const needsOwnCompression: Needs = ({ isEdge }) =>
  isEdge ? 'the network in front compresses responses' : null
export const needsSingleQueue: Needs = (host) =>
  isOneServer(host) ? null : 'a proxy buffers uploads, or there are several upload queues'

/** True if uploads reach a single server unbuffered, and thus a single queue. */
export function isOneServer({ direct, servers = 1 }: Host): boolean {
  return direct && servers === 1
}

/** True for requests that a proxy in front refuses itself: invalid percent-encoding, NUL, paths above the root, TRACE. */
export function isRefusedInFront({ direct }: Host, requested: { method?: string; path?: string }): boolean {
  if (direct) return false
  return requested.method === 'TRACE' || /%(?![0-9a-f]{2})|%00|\.\.%2f|%2e%2e/i.test(requested.path ?? '')
}

/** The head of an upload for a raw socket. `fields`: further header lines, each with its CRLF. */
export function uploadHead({ identity }: Visitor, fields: string, path = '/api/upload'): string {
  const who = Object.entries(identity).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST ${path} HTTP/1.1\r\nHost: x\r\n${who.join('')}${fields}\r\n`
}

/** Uploads with an Idempotency-Key. */
export function idempotentUploads(world: World) {
  return {
    /** 128 random bits. Like a deletion key, it must not appear in logs and files, since it gives access to one. */
    newIdempotencyKey(): string {
      const key = randomBytes(16).toString('base64url')
      world.keys.add(key)
      return key
    },
    send: (me: Visitor, bytes: Buffer, key: string, headers = {}) =>
      me.upload(bytes, { 'Idempotency-Key': key, ...headers }),
  }
}
