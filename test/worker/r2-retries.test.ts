/** Transient errors of R2: of R2 itself, and of the runtime when the connection to R2 is lost. Calls are retried. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { wholeFile } from '../../src/formats/image.ts'
import { StoreUnavailable } from '../../src/stores/object-store.ts'
import type { R2Bucket, R2ObjectBody } from '../../src/stores/r2/binding.ts'
import { openR2Store } from '../../src/stores/r2/store.ts'
import { assertHeld, assertHolds, bytesFor, idFor, inChunks, listOf, put } from '../support/stored-images.ts'
import { r2InMemory } from '../support/worker/counted-bindings.ts'

const TRANSIENT = [
  'put: We encountered an internal error. Please try again. (10001)',
  'put: Service unavailable. (10043)',
  'put: The client disconnected. (10054)',
  'put: Reduce your concurrent request rate for the same object. (10058)',
  'put: Unspecified error (0)',
  'Network connection lost.',
  'internal error; reference = abcdefghijkl',
]

/** Every second call of a method fails, `before` it takes effect or `after`, when only its response is lost. */
function failing(bucket: R2Bucket, message: string, when: 'before' | 'after'): R2Bucket {
  const failed = new Set<string>()
  const method =
    (name: keyof R2Bucket) =>
    async (...args: never[]) => {
      const isLost = !failed.delete(name)
      if (isLost) failed.add(name)
      if (isLost && when === 'before') throw new Error(message)
      const result = await (bucket[name] as (...args: never[]) => unknown)(...args)
      if (isLost) throw new Error(message)
      return result
    }
  return new Proxy(bucket, { get: (_, name) => method(name as keyof R2Bucket) })
}

for (const message of TRANSIENT) {
  for (const when of ['before', 'after'] as const) {
    it(`stores, holds, releases and removes an image if calls fail ${when} their effect: ${message}`, async () => {
      const bucket = r2InMemory(() => {})
      const store = openR2Store({ bucket: failing(bucket, message, when), pauseMs: 1 })
      const [id, bytes] = [idFor('image'), bytesFor(1, 300_000)]
      const record = await put(store, id, bytes)
      await assertHolds(store, record, bytes)
      assert.ok(await store.hold(id))
      await assertHeld(store, record, bytes)
      assert.ok(await store.release(id))
      await assertHolds(store, record, bytes)
      assert.ok(await store.remove(id))
      assert.deepEqual(await listOf(openR2Store({ bucket })), [])
    })
  }
}

it('reads nothing of what takes the place of an image between its record and its bytes', async () => {
  const bucket = r2InMemory(() => {})
  const [id, bytes] = [idFor('image'), bytesFor(1, 1000)]
  const others = openR2Store({ bucket })
  const record = await put(others, id, bytes)
  let change: (() => Promise<unknown>) | undefined
  const head: R2Bucket['head'] = async (key) => {
    const found = await bucket.head(key)
    await change?.()
    change = undefined
    return found
  }
  const store = openR2Store({ bucket: { ...bucket, head } })
  const range = { first: 0, last: 6 }
  change = () => others.hold(id)
  assert.equal(await store.open(id, range), null)
  await others.release(id)

  const { customMetadata = {} } = (await bucket.head(id))!
  await bucket.put(id, new Uint8Array(1000), { customMetadata })
  change = async () => {
    const draft = await others.draft(inChunks(bytes), bytes.length)
    await draft.replace(record, wholeFile(draft))
  }
  assert.deepEqual((await store.open(id, range))?.body, new Uint8Array(bytes.subarray(0, 7)))
})

it('pauses before it repeats a call, as R2 allows one write per second and key', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const bucket = r2InMemory(() => {})
  let calls = 0
  const head: R2Bucket['head'] = async (key) => {
    if (++calls === 1) throw new Error(TRANSIENT[0])
    return bucket.head(key)
  }
  const found = openR2Store({ bucket: { ...bucket, head } }).head(idFor('image'))
  await nextTurn()
  assert.equal(calls, 1)
  t.mock.timers.tick(1000)
  assert.equal(await found, null)
})

it('is unavailable, not broken, while the bytes of an image cannot be read', async () => {
  const bucket = r2InMemory(() => {})
  const id = idFor('image')
  await put(openR2Store({ bucket }), id, bytesFor(1, 1000))
  const arrayBuffer = async () => {
    throw new Error('Network connection lost.')
  }
  const get: R2Bucket['get'] = async (...args) => ({
    ...((await bucket.get(...args)) as R2ObjectBody),
    arrayBuffer,
  })
  const store = openR2Store({ bucket: { ...bucket, get } })
  for (const selection of ['all', { first: 0, last: 9 }] as const)
    await assert.rejects(store.open(id, selection), StoreUnavailable)
})
