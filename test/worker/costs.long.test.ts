/** The cost of each request on Workers in calls to R2 and D1, as stated in docs/scale.md. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import type { D1Binding, D1Statement } from '../../src/stores/d1/binding.ts'
import { openD1Ledger } from '../../src/stores/d1/ledger.ts'
import type { R2Bucket } from '../../src/stores/r2/binding.ts'
import { r2Salts } from '../../src/stores/r2/salts.ts'
import { openR2Store } from '../../src/stores/r2/store.ts'
import { gif } from '../support/images/tiny-images.ts'
import { startBindings } from '../support/worker/bindings.ts'
import { migrate } from '../support/worker/d1-under-test.ts'
import { startHostHere } from '../support/worker/host-here.ts'

/** Names of R2 calls and texts of D1 statements. */
let recorded: string[] = []

async function costs(t: TestContext) {
  const bindings = await startBindings()
  t.after(() => bindings.close())
  await migrate(bindings.database)
  const { ask, upload } = await startHostHere(t, {
    stores: {
      objects: openR2Store({ bucket: recordedBucket(bindings.bucket) }),
      ledger: await openD1Ledger({
        database: recordedDatabase(bindings.database),
        salts: r2Salts(bindings.salts),
      }),
    },
  })
  await upload(gif())
  /** The calls of a request, except for settings, which are read at most once a second. */
  const costOf = async (request: () => Promise<Response>) => {
    recorded = []
    const response = await request()
    return { response, calls: recorded.filter((call) => !call.endsWith(' from settings')) }
  }
  return { ask, upload: () => costOf(() => upload(gif())), costOf }
}

function recordedDatabase(database: D1Binding): D1Binding {
  const recording = (statement: D1Statement, sql: string): D1Statement => ({
    ...statement,
    bind: (...values) => recording(statement.bind(...values), sql),
    all() {
      recorded.push(sql)
      return statement.all()
    },
  })
  return {
    prepare: (sql) => recording(database.prepare(sql), sql),
    batch(statements) {
      for (const statement of statements) recorded.push((statement as unknown as { sql: string }).sql)
      return database.batch(statements)
    },
  }
}

function recordedBucket(bucket: R2Bucket): R2Bucket {
  return new Proxy(bucket, {
    get:
      (target, name) =>
      (...args: unknown[]) => {
        recorded.push(String(name))
        return (Reflect.get(target, name) as (...args: unknown[]) => unknown)(...args)
      },
  })
}

const STATEMENTS = ['insert into places', 'select 1 as rank from blocks', 'update places set held']

it('stores an upload with one put and three statements', async (t) => {
  const { response, calls } = await (await costs(t)).upload()
  assert.equal(response.status, 201)
  assert.deepEqual(
    calls.map((call) => STATEMENTS.find((statement) => call.startsWith(statement)) ?? call),
    [...STATEMENTS.slice(0, 2), 'put', STATEMENTS[2]],
  )
})

it('serves an image with one get, deletes with two heads, one put and three statements, and 404s with one get and one statement', async (t) => {
  const { ask, upload, costOf } = await costs(t)
  const { id, key } = (await (await upload()).response.json()) as { id: string; key: string }
  const measure = async (method: string, path: string) => {
    const { response, calls } = await costOf(async () => {
      const answer = await ask(method, path)
      await answer.clone().arrayBuffer()
      return answer
    })
    const ofStore = calls.filter((call) => !call.includes(' '))
    return { status: response.status, store: ofStore.join(' '), statements: calls.length - ofStore.length }
  }
  assert.deepEqual(await measure('GET', `/raw/${id}`), { status: 200, store: 'get', statements: 0 })
  const deleted = await measure('DELETE', `/api/delete?key=${key}`)
  assert.deepEqual(deleted, { status: 200, store: 'head head put', statements: 3 })
  assert.deepEqual(await measure('GET', `/raw/${id}`), { status: 404, store: 'get', statements: 1 })
})
