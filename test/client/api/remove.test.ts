import assert from 'node:assert/strict'
import { test } from 'node:test'
import { remove, removeFrom } from '../../../src/client/api/remove.ts'
import { fakeService, SENT } from './fake-service.ts'

const GONE = { status: 200, body: { success: true } }
const UNKNOWN = { status: 404, body: { detail: 'No such key.', error: 'unknown-key', success: false } }

test('deletes by key', async () => {
  const service = await fakeService(GONE)
  await removeFrom(SENT.key, {}, service.endpoint)
  const [{ method, url } = assert.fail()] = service.requests
  assert.equal(`${method} ${url}`, `DELETE /api/delete?key=${SENT.key}`)
})

test('deletes by delete address, at the service in the address', async () => {
  const service = await fakeService(GONE, GONE)
  await remove(`${service.url}/api/delete?key=${SENT.key}`)
  assert.equal(service.requests[0]?.url, `/api/delete?key=${SENT.key}`)
  await remove(`${service.url}/pics/api/delete?key=${SENT.key}`)
  assert.equal(service.requests[1]?.url, `/pics/api/delete?key=${SENT.key}`)
})

test('rejects with a ServerRefusal for an unknown key', async () => {
  const service = await fakeService(UNKNOWN)
  const refused = { name: 'ServerRefusal', code: 'unknown-key' }
  await assert.rejects(removeFrom(SENT.key, {}, service.endpoint), refused)
})

test('treats an unknown key after a lost response as deleted', async () => {
  const service = await fakeService('lose the reply', UNKNOWN)
  await removeFrom(SENT.key, {}, service.endpoint)
  assert.equal(service.requests.length, 2)
})

test('does not treat a 404 from something else as deleted', async () => {
  const service = await fakeService('lose the reply', { status: 404, body: '<html>' })
  await assert.rejects(removeFrom(SENT.key, {}, service.endpoint), { name: 'ServerRefusal', status: 404 })
})

test('never sends an invalid key', async () => {
  const service = await fakeService()
  for (const key of ['', 'abc', 'https://pics.example/abcdefghijk', `${SENT.key}x`]) {
    await assert.rejects(remove(key, { baseUrl: service.url }), TypeError)
  }
  assert.equal(service.requests.length, 0)
})
