/** The S3 adapter on any S3 server, with hooks that bypass the adapter. */

import { createHash } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { AwsClient } from 'aws4fetch'
import { ID_PATTERN } from '../../../src/protocol.ts'
import { createSpool } from '../../../src/stores/drafts/spool.ts'
import { MARKER_HEADER } from '../../../src/stores/s3/objects.ts'
import type { S3StoreOptions } from '../../../src/stores/s3/store.ts'
import { openS3Store } from '../../../src/stores/s3/store.ts'
import { createTransport, type ReplyBody, type Transport } from '../../../src/stores/s3/transport.ts'
import type { OpenedStore } from '../../contracts/object-store.ts'
import { newFolder } from '../folder.ts'
import { passGate } from '../gate.ts'

export interface S3Service {
  endpoint: string
  bucket: string
  accessKeyId: string
  secretAccessKey: string
  region?: string
  /** Endpoint for requests that bypass the adapter. Default: `endpoint`. */
  plainEndpoint?: string
}

export interface OpenedS3 extends Required<OpenedStore> {
  /** Unique to this store, with a trailing slash. */
  prefix: string
  /** The draft folder. */
  folder: string
}

let serial = 0

/** A store with a unique prefix. Small pages, so that a few objects fill several. */
export async function openS3UnderTest(
  service: S3Service,
  changes: Partial<S3StoreOptions> & { style?: 'path' | 'virtual' } = {},
): Promise<OpenedS3> {
  const { style = 'path', ...options } = changes
  const folder = await newFolder()
  const prefix = `run ${process.pid}+${++serial}/ä/`
  const transport = options.transport ?? createTransport(new URL(service.endpoint).origin)
  const counted = countBodies(transport)
  const open = (more: Partial<S3StoreOptions> = {}) =>
    openS3Store({
      url: `s3://${service.bucket}/${encodeURI(prefix)}?endpoint=${service.endpoint}&style=${style}`,
      region: service.region,
      accessKeyId: service.accessKeyId,
      secretAccessKey: service.secretAccessKey,
      spool: createSpool(folder),
      pageKeys: 10,
      ...options,
      transport: counted.transport,
      ...more,
    })
  const plain = plainRequests(service)
  const store = await open().catch(async (error) => {
    await rm(folder, { recursive: true })
    throw error
  })
  return {
    store,
    prefix,
    folder,
    reopen: () => open(),
    reopenLater: () => open({ transport: withClockOffset(counted.transport, 3_600_000) }),
    gated() {
      const { send, close } = counted.transport
      const transport: Transport = {
        async send(request) {
          await passGate()
          return send(request)
        },
        close,
      }
      return open({ retryPolicy: { attempts: 1 }, transport })
    },
    handles: () => counted.open(),
    async corrupt(id, damage) {
      const { headers, bytes } = await plain.get(prefix + id)
      if (damage === 'flip') bytes[Math.floor(bytes.length / 2)]! ^= 1
      const broken: Record<string, string> = damage === 'record' ? { 'x-amz-meta-record': '{' } : {}
      const kept = damage === 'cut' ? bytes.subarray(0, -100) : bytes
      await plain.put(prefix + id, { ...headers, ...broken }, kept)
    },
    async leftovers() {
      const found = await readdir(folder)
      for (const key of await plain.list(prefix)) {
        const isId = ID_PATTERN.test(key.slice(prefix.length))
        if (!isId || (await plain.marker(key))?.startsWith('retired ') === false) found.push(key)
      }
      return found
    },
    async close() {
      await store.close()
      await Promise.all((await plain.list(prefix)).map(plain.remove))
      await rm(folder, { recursive: true })
      await transport.close()
    },
  }
}

/** Requests that bypass the adapter. */
export function plainRequests(service: S3Service) {
  const { bucket, accessKeyId, secretAccessKey, region = 'us-east-1' } = service
  const endpoint = service.plainEndpoint ?? service.endpoint
  const aws = new AwsClient({ accessKeyId, secretAccessKey, service: 's3', region, retries: 0 })
  const addressOf = (key: string) =>
    `${endpoint}/${bucket}/${encodeURIComponent(key).replaceAll('%2F', '/').replaceAll("'", '%27')}`
  async function request(address: string, init: RequestInit = {}): Promise<Response> {
    const response = await aws.fetch(address, init)
    if (response.ok) return response
    throw new Error(`${init.method ?? 'GET'} ${address}: ${response.status} ${await response.text()}`)
  }
  return {
    request,
    async createBucket(name: string) {
      await (await request(`${endpoint}/${name}`, { method: 'PUT' })).text()
    },
    async get(key: string) {
      const response = await request(addressOf(key))
      const kept = [...response.headers].filter(([name]) =>
        /^(x-amz-meta-|content-type|cache-control)/.test(name),
      )
      return { headers: Object.fromEntries(kept), bytes: Buffer.from(await response.arrayBuffer()) }
    },
    async put(key: string, headers: Record<string, string>, bytes: Uint8Array) {
      const sha256 = createHash('sha256').update(bytes).digest('hex')
      const init = {
        method: 'PUT',
        headers: { ...headers, 'x-amz-content-sha256': sha256 },
        body: Buffer.from(bytes),
      }
      await (await request(addressOf(key), init)).text()
    },
    async remove(key: string) {
      await (await request(addressOf(key), { method: 'DELETE', headers: EMPTY })).text()
    },
    async marker(key: string): Promise<string | null> {
      const response = await request(addressOf(key), { method: 'HEAD', headers: EMPTY })
      return response.headers.get(MARKER_HEADER)
    },
    async list(prefix: string): Promise<string[]> {
      const keys: string[] = []
      for (let start = ''; ; start = keys.at(-1)!) {
        const query = `list-type=2&prefix=${encodeURIComponent(prefix)}&start-after=${encodeURIComponent(start)}`
        const page = await (await request(`${endpoint}/${bucket}?${query}`, { headers: EMPTY })).text()
        keys.push(...Array.from(page.matchAll(/<Key>(.*?)<\/Key>/g), ([, key]) => key!))
        if (!page.includes('<IsTruncated>true')) return keys
      }
    },
  }
}

const EMPTY = { 'x-amz-content-sha256': createHash('sha256').digest('hex') }

/** Shifts the store's clock by `aheadMs`, which may be negative, but not the times of its objects. */
export function withClockOffset(transport: Transport, aheadMs: number): Transport {
  return {
    async send(request) {
      const reply = await transport.send(request)
      const date = Date.parse(reply.header('date') ?? '') + aheadMs
      const header = (name: string) => (name === 'date' ? new Date(date).toUTCString() : reply.header(name))
      return { ...reply, header }
    },
    close: () => transport.close(),
  }
}

/** Counts responses whose body is neither fully read nor cancelled: each occupies a connection. `close` has no effect. */
function countBodies(inner: Transport): { transport: Transport; open(): number } {
  const open = new Set<ReplyBody>()
  return {
    open: () => open.size,
    transport: {
      async send(request) {
        const reply = await inner.send(request)
        if (request.method === 'HEAD') return reply
        open.add(reply.body)
        return { ...reply, body: counted(reply.body) }
      },
      close: async () => {},
    },
  }

  function counted(body: ReplyBody): ReplyBody {
    return {
      async next() {
        try {
          const piece = await body.next()
          if (piece === null) open.delete(body)
          return piece
        } catch (error) {
          open.delete(body)
          throw error
        }
      },
      cancel() {
        open.delete(body)
        body.cancel()
      },
    }
  }
}
