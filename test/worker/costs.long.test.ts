/** What each request costs at the edge, as docs/scale.md has it: how often it asks R2 and D1. */
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

/** Calls of R2 by their names, and statements of D1 by their first words. */
let asked: string[] = []

async function costs(t: TestContext) {
  const bindings = await startBindings()
  t.after(() => bindings.close())
  await migrate(bindings.database)
  const { ask, upload } = await startHostHere(t, {
    stores: {
      objects: openR2Store({ bucket: countedCalls(bindings.bucket) }),
      ledger: await openD1Ledger({ database: counted(bindings.database), salts: r2Salts(bindings.salts) }),
    },
  })
  await upload(gif())
  /** What a request asks, less settings: they are looked up at most once a second, whatever is asked. */
  const costOf = async (request: () => Promise<Response>) => {
    asked = []
    const response = await request()
    return { response, calls: asked.filter((call) => !call.endsWith(' from settings')) }
  }
  return { ask, upload: () => costOf(() => upload(gif())), costOf }
}

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

const BEGINNINGS = ['insert into places', 'select 1 as rank from blocks', 'update places set held']

it('costs an upload one put and three statements', async (t) => {
  const { response, calls } = await (await costs(t)).upload()
  assert.equal(response.status, 201)
  assert.deepEqual(
    calls.map((call) => BEGINNINGS.find((beginning) => call.startsWith(beginning)) ?? call),
    [...BEGINNINGS.slice(0, 2), 'put', BEGINNINGS[2]],
  )
})

it('costs a view one get, a deletion two looks, a put and three statements, and an absent image a get and a statement', async (t) => {
  const { ask, upload, costOf } = await costs(t)
  const { id, key } = (await (await upload()).response.json()) as { id: string; key: string }
  const told = async (method: string, path: string) => {
    const { response, calls } = await costOf(async () => {
      const answer = await ask(method, path)
      await answer.clone().arrayBuffer()
      return answer
    })
    const ofStore = calls.filter((call) => !call.includes(' '))
    return { status: response.status, store: ofStore.join(' '), statements: calls.length - ofStore.length }
  }
  assert.deepEqual(await told('GET', `/raw/${id}`), { status: 200, store: 'get', statements: 0 })
  const deleted = await told('DELETE', `/api/delete?key=${key}`)
  assert.deepEqual(deleted, { status: 200, store: 'head head put', statements: 3 })
  assert.deepEqual(await told('GET', `/raw/${id}`), { status: 404, store: 'get', statements: 1 })
})
