/** A hold in R2 beside a listing that clears away what dead processes left. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MARKER_NAME } from '../../src/stores/bucket/markers.ts'
import type { R2Bucket } from '../../src/stores/r2/binding.ts'
import { openR2Store } from '../../src/stores/r2/store.ts'
import { harnessOf } from '../contracts/object-store/harness.ts'
import { interleavingCases } from '../contracts/object-store/interleaving.ts'
import { assertHeld, bytesFor, heldOf, idFor, put } from '../support/stored-images.ts'
import { r2InMemory } from '../support/worker/counted-bindings.ts'
import { openR2UnderTest } from '../support/worker/r2-under-test.ts'

const ID = idFor('a')
const HOUR_MS = 3_600_000

/** `bucket`, for a process that waits for `goOn` before it puts the marker of a hold. */
function stoppedAtMarker(bucket: R2Bucket): { bucket: R2Bucket; reached: Promise<void>; goOn(): void } {
  const [reached, going] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const stopping: R2Bucket = {
    ...bucket,
    async put(...given) {
      if (given[2]?.customMetadata?.[MARKER_NAME]?.startsWith('held ')) {
        reached.resolve()
        await going.promise
      }
      return bucket.put(...given)
    },
  }
  return { bucket: stopping, reached: reached.promise, goOn: going.resolve }
}

interleavingCases(
  harnessOf(async () => openR2UnderTest(r2InMemory(() => {}))),
  4,
)

test('a hold loses nothing to a Worker whose clock is an hour ahead of the bucket’s', async () => {
  const bucket = r2InMemory(() => {})
  const stopped = stoppedAtMarker(bucket)
  const store = openR2Store({ bucket: stopped.bucket })
  const bytes = bytesFor(1, 3000)
  const record = await put(store, ID, bytes)
  const holds = store.hold(ID)
  await stopped.reached
  const other = openR2Store({ bucket, now: () => Date.now() + HOUR_MS })
  assert.deepEqual(await heldOf(other), [])
  stopped.goOn()
  assert.equal(await holds, true)
  await assertHeld(store, record, bytes)
})

test('a hold is not done if its copy is gone', async () => {
  const bucket = r2InMemory(() => {})
  const stopped = stoppedAtMarker(bucket)
  const store = openR2Store({ bucket: stopped.bucket })
  await put(store, ID, bytesFor(1, 3000))
  const holds = store.hold(ID)
  await stopped.reached
  const listed = { prefix: 'held/', limit: 10, delimiter: '/', include: [] }
  for (const { key } of (await bucket.list(listed)).objects) await bucket.delete(key)
  stopped.goOn()
  assert.equal(await holds, false)
})
