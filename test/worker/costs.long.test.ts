/** The cost of each request on Workers in calls to R2 and D1, as stated in docs/scale.md. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { gif } from '../support/images/tiny-images.ts'
import { countedStores } from '../support/worker/counted-bindings.ts'
import { startHostHere } from '../support/worker/host-here.ts'

async function costs(t: TestContext, variables: Record<string, string> = {}) {
  const stores = await countedStores()
  const { ask, upload } = await startHostHere(t, { stores, variables })
  await upload(gif())
  /** The calls of a request, except for settings, which are read at most once a second. */
  const costOf = async (request: () => Promise<Response>) => {
    const { result, recorded } = await stores.within(request)
    return { response: result, calls: recorded.filter((call) => !call.endsWith(' from settings')) }
  }
  return { ask, upload: () => costOf(() => upload(gif())), costOf }
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

it('refuses an upload over the daily limit without a write', async (t) => {
  const { upload } = await costs(t, { DAILY_UPLOADS: '1' })
  assert.equal((await upload()).response.status, 503)
  const { response, calls } = await upload()
  assert.equal(response.status, 503)
  assert.deepEqual(
    calls.map((call) => call.split(' ')[0]),
    ['select', 'select'],
  )
})
