/** Outages of the store, for all requests or only for writes. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkProblem } from '../contracts/http/rules.ts'
import { request } from '../support/http.ts'
import { gif } from '../support/images/tiny-images.ts'
import { fetchRaw, post, remaining, remove, store } from '../support/upload.ts'
import { everywhere, fake, page, ready, storeProxy, untilReadyzSays, urls } from './servers.ts'

describe('store outage', () => {
  const outages: Record<string, { begin: () => void; end: () => void }> = {
    'connections break': { begin: () => storeProxy.cut(), end: () => storeProxy.restore() },
    'all requests get 503': {
      begin: () =>
        fake.faults.add({ kind: 'answer', status: 503, code: 'ServiceUnavailable' }, { times: Infinity }),
      end: () => fake.faults.clear(),
    },
  }
  for (const [index, [name, { begin, end }]] of Object.entries(outages).entries()) {
    it(`returns 503, never 404, and recovers by itself: ${name}`, async () => {
      const from = `198.51.100.${40 + index}`
      const { id, key, bytes } = await store(urls[0]!, gif(), from)
      begin()
      try {
        const answers = await Promise.all([
          everywhere((url) => post(url, gif(), from)),
          everywhere((url) => fetchRaw(url, id)),
          everywhere((url) => request(url, 'GET', `/raw/${id}`, { headers: { Range: 'bytes=0-1' } })),
          everywhere((url) => fetchRaw(url, 'AAAAAAAAAAA')),
          everywhere((url) => remove(url, key)),
        ])
        for (const answer of answers.flat()) {
          checkProblem(answer, 503, 'unavailable')
          assert.equal(answer.headers.get('Cache-Control'), 'no-store')
        }
        for (const answer of await everywhere((url) => page(url, id))) assert.equal(answer.status, 503)
        await untilReadyzSays({ status: 'unavailable', store: 'unavailable' })
        for (const answer of await everywhere(ready)) assert.equal(answer.status, 503)
        for (const answer of await everywhere((url) => request(url, 'GET', '/healthz'))) {
          assert.equal(answer.status, 200)
        }
        assert.equal(await remaining(urls[0]!, from), 99, 'failed uploads are not counted')
      } finally {
        end()
      }
      for (const answer of await everywhere(ready)) assert.equal(answer.status, 200)
      for (const answer of await everywhere((url) => fetchRaw(url, id))) assert.deepEqual(answer.body, bytes)
      for (const answer of await everywhere((url) => post(url, gif(), from))) assert.equal(answer.status, 201)
      assert.equal((await remove(urls[2]!, key)).status, 200)
    })
  }
})

describe('read-only store', () => {
  it('reports not ready and refuses uploads and deletions, but keeps serving images', async () => {
    const from = '198.51.100.50'
    const { id, key, bytes } = await store(urls[0]!, gif(), from)
    fake.faults.add(
      { kind: 'answer', status: 503, code: 'ServiceUnavailable' },
      { times: Infinity, on: ({ method }) => method === 'PUT' || method === 'DELETE' },
    )
    try {
      await untilReadyzSays({ status: 'unavailable', store: 'unavailable' })
      for (const answer of await everywhere((url) => fetchRaw(url, id))) assert.deepEqual(answer.body, bytes)
      for (const answer of await everywhere((url) => post(url, gif(), from))) {
        checkProblem(answer, 503, 'unavailable')
      }
      for (const answer of await everywhere((url) => remove(url, key))) assert.equal(answer.status, 503)
    } finally {
      fake.faults.clear()
    }
    for (const answer of await everywhere(ready)) assert.equal(answer.status, 200)
    for (const answer of await everywhere((url) => fetchRaw(url, id))) assert.deepEqual(answer.body, bytes)
    assert.equal((await remove(urls[1]!, key)).status, 200)
  })
})
