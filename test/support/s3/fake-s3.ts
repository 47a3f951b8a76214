/**
 * A strict in-process S3 server: real signatures, real payload hashes, conditional puts, ranges, listings; path style and
 * virtual-host style. Follows Amazon's documentation and injects faults on demand.
 */
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createFaults, type Fault, type Faults, type RequestFacts } from './fake-s3-faults.ts'
import {
  copyObject,
  errorAnswer,
  type FakeAnswer,
  type FakeObject,
  getObject,
  listObjects,
  putObject,
} from './fake-s3-objects.ts'
import { type Keys, signatureFault } from './fake-s3-signature.ts'

/** Of a larger object only the size is kept, so that a test can measure the memory of the code under test. */
const MAX_KEPT_BYTES = 32 * 1024 * 1024

export interface LoggedRequest extends RequestFacts {
  /** 0 if the connection was broken instead. */
  status: number
}

export interface FakeS3 extends Keys {
  /** `http://127.0.0.1:port` */
  endpoint: string
  port: number
  bucket: string
  objects: Map<string, FakeObject>
  faults: Faults
  requests: LoggedRequest[]
  /** Whether a fault would leave this request without a complete response. */
  isSilentTo(request: { method: string; path: string; headers: Record<string, string> }): boolean
  setVersioning(status: 'Enabled' | 'Suspended' | null): void
  /** Requests for keys with this suffix, as `METHOD status`. */
  logOf(keyEnd: string): string[]
  close(): Promise<void>
}

export interface FakeS3Options extends Partial<Keys> {
  bucket?: string
  /** Default: loopback. */
  host?: string
  /** Default: a free port. */
  port?: number
  /** Puts compare If-Match without quotes, as Ceph RGW 16 does. */
  hasBareEtags?: boolean
}

export async function startFakeS3(options: FakeS3Options = {}): Promise<FakeS3> {
  const { bucket = 'images', host = '127.0.0.1', hasBareEtags = false } = options
  const {
    accessKeyId = 'AKIDFAKE',
    secretAccessKey = 'fake+secret/with=signs',
    region = 'us-east-1',
  } = options
  const keys: Keys = { accessKeyId, secretAccessKey, region }
  const objects = new Map<string, FakeObject>()
  const faults = createFaults()
  const requests: LoggedRequest[] = []
  let versioning: string | null = null

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { facts, isKnownBucket } = locate(request)
    const logged: LoggedRequest = { ...facts, status: 0 }
    requests.push(logged)
    const fault = faults.take(facts)
    if (fault?.kind === 'reset') return void request.socket.destroy()
    if (fault?.kind === 'hang') return void request.resume()
    if (fault?.kind === 'delay') await new Promise((resolve) => setTimeout(resolve, fault.ms))
    if (fault?.kind === 'answer') {
      request.resume()
      const { status, code = '', body, headers } = fault
      return send(
        response,
        logged,
        body === undefined ? errorAnswer(status, code, headers) : { status, body, headers },
      )
    }
    const answer = await answerTo(request, facts, isKnownBucket, fault)
    if (fault?.kind === 'lose-reply') return void request.socket.destroy()
    send(response, logged, answer, fault)
  }

  function locate(request: IncomingMessage): { facts: RequestFacts; isKnownBucket: boolean } {
    return locateIn(request.method!, request.url!, headersOf(request))
  }

  function locateIn(method: string, url: string, headers: Record<string, string>) {
    const [path, query = ''] = url.split('?')
    const authority = String(headers.host)
    const names = path!.slice(1).split('/').map(decodeURIComponent)
    const isVirtual = !/^(127\.0\.0\.1|[^.]+)(:|$)/.test(authority)
    const requestedBucket = isVirtual ? authority.split('.')[0] : names.shift()
    const facts: RequestFacts = { method, key: names.join('/'), query: new URLSearchParams(query), headers }
    return { facts, isKnownBucket: requestedBucket === bucket }
  }

  async function answerTo(
    request: IncomingMessage,
    facts: RequestFacts,
    isKnownBucket: boolean,
    fault: Fault | null,
  ): Promise<FakeAnswer> {
    const signature = await signatureFault(request, keys)
    if (signature !== null) {
      request.resume()
      return errorAnswer(signature === 'AuthorizationHeaderMalformed' ? 400 : 403, signature)
    }
    if (facts.method === 'PUT' && request.headers['content-length'] === undefined) {
      return errorAnswer(411, 'MissingContentLength')
    }
    const body = await receive(request, fault?.kind === 'flip-request')
    const headers = headersOf(request)
    const payload = headers['x-amz-content-sha256']
    if (payload !== 'UNSIGNED-PAYLOAD' && payload !== body.sha256.toString('hex')) {
      return errorAnswer(400, 'XAmzContentSHA256Mismatch')
    }
    const checksum = headers['x-amz-checksum-sha256']
    if (checksum !== undefined && checksum !== body.sha256.toString('base64'))
      return errorAnswer(400, 'BadDigest')
    if (!isKnownBucket) return errorAnswer(404, 'NoSuchBucket')
    if (facts.key === '') return answerForBucket(facts)
    switch (facts.method) {
      case 'PUT':
        if (headers['x-amz-copy-source'] !== undefined) {
          return copyObject(objects, bucket, facts.key, headers['x-amz-copy-source'])
        }
        return putObject(objects, facts.key, headers, body, {
          ignoreCondition: fault?.kind === 'ignore-condition',
          hasBareEtags,
        })
      case 'GET':
      case 'HEAD':
        return getObject(objects, facts.key, headers, fault?.kind === 'ignore-range')
      case 'DELETE':
        objects.delete(facts.key)
        return { status: 204 }
      default:
        return errorAnswer(405, 'MethodNotAllowed')
    }
  }

  function answerForBucket({ method, query }: RequestFacts): FakeAnswer {
    if (method !== 'GET') return errorAnswer(405, 'MethodNotAllowed')
    if (query.get('list-type') === '2') return listObjects(objects, query)
    if (!query.has('versioning')) return errorAnswer(501, 'NotImplemented')
    const status = versioning === null ? '' : `<Status>${versioning}</Status>`
    return {
      status: 200,
      body: `<VersioningConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${status}</VersioningConfiguration>`,
    }
  }

  const server = createServer((request, response) => {
    // The connection broke while a body arrived: nothing was executed, and nobody is left to answer.
    handle(request, response).catch(() => request.socket.destroy())
  })
  // Long, so that no idle connection is closed just as a client reuses it: faults must only occur on demand.
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, host, resolve))
  const { port } = server.address() as AddressInfo
  return {
    endpoint: `http://127.0.0.1:${port}`,
    port,
    bucket,
    ...keys,
    objects,
    faults,
    requests,
    isSilentTo({ method, path, headers }) {
      const kind = faults.next(locateIn(method, path, headers).facts)?.kind
      return kind === 'hang' || kind === 'stall-answer'
    },
    setVersioning: (status) => {
      versioning = status
    },
    logOf: (keyEnd) =>
      requests.filter(({ key }) => key.endsWith(keyEnd)).map(({ method, status }) => `${method} ${status}`),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function receive(request: IncomingMessage, flip: boolean) {
  const sha256 = createHash('sha256')
  const md5 = createHash('md5')
  let chunks: Buffer[] | null = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    if (flip && size === 0) chunk[0]! ^= 1
    sha256.update(chunk)
    md5.update(chunk)
    size += chunk.length
    chunks?.push(chunk)
    if (size > MAX_KEPT_BYTES) chunks = null
  }
  const bytes = chunks === null ? null : Buffer.concat(chunks)
  return { sha256: sha256.digest(), md5: md5.digest('hex'), size, bytes }
}

function send(
  response: ServerResponse,
  logged: LoggedRequest,
  answer: FakeAnswer,
  fault: Fault | null = null,
) {
  let body = Buffer.from(answer.body ?? '')
  if (fault?.kind === 'shorten-answer') body = body.subarray(0, body.length - fault.byBytes)
  if (fault?.kind === 'flip-answer') {
    body = Buffer.from(body)
    body[Math.floor(body.length / 2)]! ^= 1
  }
  logged.status = answer.status
  const length = answer.status === 204 ? {} : { 'content-length': String(body.length) }
  response.writeHead(answer.status, { ...answer.headers, ...length, 'x-amz-request-id': 'fake' })
  if (fault?.kind === 'cut-answer') {
    response.flushHeaders()
    response.write(body.subarray(0, fault.afterBytes))
    // Gives the headers and these bytes time to be sent.
    setTimeout(() => response.destroy(), 20)
  } else if (fault?.kind === 'stall-answer') {
    response.flushHeaders()
    response.write(body.subarray(0, fault.afterBytes))
  } else {
    response.end(logged.method === 'HEAD' ? undefined : body)
  }
}

function headersOf(request: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
}
