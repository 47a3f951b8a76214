/** A Worker's bindings, provided by Miniflare on workerd and used from this process. */
import { Miniflare } from 'miniflare'
import { Agent, type BodyInit, fetch, type Response } from 'undici'
import type { D1Binding, D1Result, D1Statement } from '../../../src/stores/d1/binding.ts'
import type { R2Bucket, R2Object, R2Page } from '../../../src/stores/r2/binding.ts'

export interface Bindings {
  bucket: R2Bucket
  database: D1Binding
  /** Separate bucket for salts. */
  salts: R2Bucket
  close(): Promise<void>
}

/**
 * Forwards statements and bucket calls to the bindings. Miniflare's own proxy needs several calls for each, some of which block
 * this process, and loses responses and bodies when many are concurrent.
 */
const SCRIPT = `
async function query(path, request, { LEDGER }) {
  const statements = await request.json()
  const prepared = statements.map(({ sql, values }) => LEDGER.prepare(sql).bind(...values))
  return Response.json(path === '/batch' ? await LEDGER.batch(prepared) : [await prepared[0].all()])
}
async function callBucket(name, request, env) {
  const { method, args } = JSON.parse(decodeURIComponent(request.headers.get('x-call')))
  if (method === 'put') args.splice(1, 0, await request.arrayBuffer())
  const answer = await env[name][method](...args)
  if (method !== 'get' || answer === null) return Response.json(answer ?? null)
  const object = encodeURIComponent(JSON.stringify({ ...described(answer), hasBody: 'body' in answer }))
  return new Response(answer.body, { headers: { 'x-object': object } })
}
const described = ({ key, size, etag, uploaded, customMetadata }) => ({ key, size, etag, uploaded, customMetadata })
export default {
  async fetch(request, env) {
    const path = new URL(request.url).pathname
    try {
      return request.headers.has('x-call') ? await callBucket(path.slice(1), request, env) : await query(path, request, env)
    } catch (error) {
      return Response.json({ message: error.message }, { status: 500 })
    }
  },
}`

/** Starts an in-memory bucket and database. */
export async function startBindings(): Promise<Bindings> {
  const miniflare = new Miniflare({
    script: SCRIPT,
    modules: true,
    compatibilityDate: '2026-07-01',
    r2Buckets: ['IMAGES', 'PRIVATE'],
    d1Databases: ['LEDGER'],
  })
  const { origin } = await miniflare.ready
  // A connection per call: workerd closes one that was idle for 5 s even if a request has just arrived on it.
  const forDatabase = new Agent({ connections: 16, pipelining: 0 })
  // Unlimited, since readers hold bodies open.
  const forBuckets = new Agent({ pipelining: 0 })
  async function call(path: string, headers: Record<string, string>, body?: BodyInit): Promise<Response> {
    const dispatcher = path === '/all' || path === '/batch' ? forDatabase : forBuckets
    const answer = await fetch(`${origin}${path}`, { method: 'POST', headers, body, dispatcher })
    if (answer.ok) return answer
    throw new Error(((await answer.json()) as { message: string }).message)
  }
  return {
    bucket: bucketVia((headers, body) => call('/IMAGES', headers, body)),
    database: databaseVia((path, body) => call(path, {}, body)),
    salts: bucketVia((headers, body) => call('/PRIVATE', headers, body)),
    async close() {
      await Promise.all([forDatabase.destroy(), forBuckets.destroy()])
      await miniflare.dispose()
    },
  }
}

interface Bound extends D1Statement {
  readonly sql: string
  readonly values: (string | number)[]
}

function databaseVia(call: (path: '/all' | '/batch', body: string) => Promise<Response>): D1Binding {
  async function post(path: '/all' | '/batch', statements: Bound[]): Promise<D1Result[]> {
    const answer = await call(path, JSON.stringify(statements.map(({ sql, values }) => ({ sql, values }))))
    return (await answer.json()) as D1Result[]
  }
  const bound = (sql: string, values: (string | number)[]): Bound => ({
    sql,
    values,
    bind: (...values) => bound(sql, values),
    async all() {
      const [result] = await post('/all', [bound(sql, values)])
      return result!
    },
  })
  return {
    prepare: (sql) => bound(sql, []),
    batch: (statements) => post('/batch', statements as Bound[]),
  }
}

function bucketVia(send: (headers: Record<string, string>, body?: BodyInit) => Promise<Response>): R2Bucket {
  const call = (method: keyof R2Bucket, args: unknown[], body?: BodyInit) =>
    send({ 'x-call': encodeURIComponent(JSON.stringify({ method, args })) }, body)
  const found = <T extends R2Object>(object: T): T => ({ ...object, uploaded: new Date(object.uploaded) })
  const objectOf = async (answer: Response) => {
    const object = (await answer.json()) as R2Object | null
    return object && found(object)
  }
  return {
    head: async (key) => objectOf(await call('head', [key])),
    async get(key, options) {
      const answer = await call('get', [key, options ?? {}])
      const described = answer.headers.get('x-object')
      if (described === null) return objectOf(answer)
      const { hasBody, ...object } = JSON.parse(decodeURIComponent(described))
      if (!hasBody) return found(object)
      return { ...found(object), body: answer.body!, arrayBuffer: () => answer.arrayBuffer() }
    },
    put: async (key, value, options) =>
      objectOf(await call('put', [key, options ?? {}], value as Uint8Array<ArrayBuffer>)),
    delete: async (key) => void (await (await call('delete', [key])).arrayBuffer()),
    async list(options) {
      const page = (await (await call('list', [options])).json()) as R2Page
      return { ...page, objects: page.objects.map(found) }
    },
  }
}
