/** What each request costs at the edge, as docs/scale.md has it: how often it asks R2 and D1. */
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import type { D1Binding, D1Statement } from '../../src/stores/d1/binding.ts'
import { openD1Ledger } from '../../src/stores/d1/ledger.ts'
import type { R2Bucket } from '../../src/stores/r2/binding.ts'
import { r2Salts } from '../../src/stores/r2/salts.ts'
import { openR2Store } from '../../src/stores/r2/store.ts'
import { configOf, type Env } from '../../src/worker/env.ts'
import { createHost, type Host } from '../../src/worker/host.ts'
import { createLog } from '../../src/worker/log.ts'
import { gif } from '../support/images/tiny-images.ts'
import { formOf } from '../support/multipart.ts'
import { type Bindings, startBindings } from '../support/worker/bindings.ts'
import { migrate } from '../support/worker/d1-under-test.ts'

const SITE = 'https://pics.example'

let bindings: Bindings
let host: Host
/** Calls of R2 by their names, and statements of D1 by their first words. */
let asked: string[] = []

before(async () => {
  bindings = await startBindings()
  await migrate(bindings.database)
  const ledger = await openD1Ledger({
    database: counted(bindings.database),
    salts: r2Salts(bindings.salts),
  })
  const bound = { IMAGES: {}, LEDGER: {}, PRIVATE: {}, ASSETS: {}, BASE_URL: SITE, LOG_LEVEL: 'silent' }
  host = createHost({
    config: configOf(bound as unknown as Env),
    objects: openR2Store({ bucket: countedCalls(bindings.bucket) }),
    ledger,
    notifiers: [],
    evidence: null,
    assets: { urls: {} as never, asset: () => null },
    log: createLog('silent'),
  })
  await upload()
})
after(() => bindings?.close())

function counted(database: D1Binding): D1Binding {
  const noted = (statement: D1Statement, sql: string): D1Statement => ({
    ...statement,
    bind: (...values) => noted(statement.bind(...values), sql),
    all() {
      asked.push(sql)
      return statement.all()
    },
  })
  return {
    prepare: (sql) => noted(database.prepare(sql), sql),
    batch(statements) {
      for (const statement of statements) asked.push((statement as unknown as { sql: string }).sql)
      return database.batch(statements)
    },
  }
}

function countedCalls(bucket: R2Bucket): R2Bucket {
  return new Proxy(bucket, {
    get:
      (target, name) =>
      (...given: unknown[]) => {
        asked.push(String(name))
        return (Reflect.get(target, name) as (...given: unknown[]) => unknown)(...given)
      },
  })
}

async function ask(method: string, path: string, more: RequestInit = {}): Promise<Response> {
  const behind: Promise<unknown>[] = []
  const headers = { 'CF-Connecting-IP': '198.51.100.7', ...more.headers }
  const request = new Request(SITE + path, { method, ...more, headers })
  asked = []
  const response = await host.fetch(request, { waitUntil: (work) => void behind.push(work) })
  await response.clone().arrayBuffer()
  await Promise.all(behind)
  // Looked up at most once a second, whatever is asked.
  asked = asked.filter((call) => !call.endsWith(' from settings'))
  return response
}

function upload() {
  const { body, contentType } = formOf(gif())
  return ask('POST', '/api/upload', { headers: { 'Content-Type': contentType }, body: new Uint8Array(body) })
}

const BEGINNINGS = ['insert into places', 'select 1 as rank from blocks', 'update places set held']

it('costs an upload one put and three statements', async () => {
  assert.equal((await upload()).status, 201)
  assert.deepEqual(
    asked.map((call) => BEGINNINGS.find((beginning) => call.startsWith(beginning)) ?? call),
    [...BEGINNINGS.slice(0, 2), 'put', BEGINNINGS[2]],
  )
})

it('costs a view one get, a deletion two looks, a put and three statements, and an absent image a get and a statement', async () => {
  const { id, key } = (await (await upload()).json()) as { id: string; key: string }
  const costOf = async (method: string, path: string) => {
    const { status } = await ask(method, path)
    const ofStore = asked.filter((call) => !call.includes(' '))
    return { status, store: ofStore.join(' '), statements: asked.length - ofStore.length }
  }
  assert.deepEqual(await costOf('GET', `/raw/${id}`), { status: 200, store: 'get', statements: 0 })
  const deleted = await costOf('DELETE', `/api/delete?key=${key}`)
  assert.deepEqual(deleted, { status: 200, store: 'head head put', statements: 3 })
  assert.deepEqual(await costOf('GET', `/raw/${id}`), { status: 404, store: 'get', statements: 1 })
})
