/** `/readyz` is public, and every check costs writes. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { openR2Store } from '../../src/stores/r2/store.ts'
import { countedStores, r2InMemory } from '../support/worker/counted-bindings.ts'
import { startHostHere } from '../support/worker/host-here.ts'

it('answers readiness checks for two seconds from the last success', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  const { objects, ledger } = await countedStores()
  let checks = 0
  let isDown = false
  const check = async () => {
    checks++
    if (isDown) throw new Error('the bucket is down')
  }
  const { ask } = await startHostHere(t, { stores: { objects: { ...objects, check }, ledger } })
  const ready = async () => (await ask('GET', '/readyz')).status
  for (let i = 0; i < 5; i++) assert.equal(await ready(), 200)
  assert.equal(checks, 1)
  isDown = true
  t.mock.timers.setTime(Date.now() + 2000)
  for (let i = 0; i < 2; i++) assert.equal(await ready(), 503)
  isDown = false
  assert.equal(await ready(), 200)
})

it('counts a long queue of purges once for many checks, and a short one each time', async (t) => {
  const { objects, ledger } = await countedStores()
  let counts = 0
  let length = 0
  const pendingPurges = async () => {
    counts++
    return { count: length, oldest: null }
  }
  const { ask } = await startHostHere(t, {
    variables: { CDN_URL: 'workers-cache://default' },
    cache: { purge: async () => ({ success: true }) },
    stores: { objects, ledger: { ...ledger, pendingPurges } },
  })
  const purgesOwed = async () => (await (await ask('GET', '/readyz')).json()).purgesOwed
  for (length of [0, 1, 0, 1000, 0]) assert.equal(await purgesOwed(), length)
  length = 1001
  counts = 0
  for (let i = 0; i < 5; i++) assert.equal(await purgesOwed(), 1001)
  assert.equal(counts, 1)
})

it('writes concurrent checks to different keys, as R2 allows one write per second and key', async () => {
  const bucket = r2InMemory(() => {})
  const keys: string[] = []
  const put: typeof bucket.put = async (key, ...more) => {
    keys.push(key)
    return bucket.put(key, ...more)
  }
  const store = openR2Store({ bucket: { ...bucket, put } })
  await Promise.all(Array.from({ length: 10 }, () => store.check()))
  assert.ok(new Set(keys).size > 5, keys.join())
})
