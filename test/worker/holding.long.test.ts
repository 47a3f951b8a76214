/** Holds in R2, concurrent with a listing that cleans up after crashed processes. */
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

/** Wraps the bucket so that it blocks before writing a hold marker, until `resume` is called. */
function blockedAtMarker(bucket: R2Bucket): { bucket: R2Bucket; reached: Promise<void>; resume(): void } {
  const [reached, resumed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const stopping: R2Bucket = {
    ...bucket,
    async put(...args) {
      if (args[2]?.customMetadata?.[MARKER_NAME]?.startsWith('held ')) {
        reached.resolve()
        await resumed.promise
      }
      return bucket.put(...args)
    },
  }
  return { bucket: stopping, reached: reached.promise, resume: resumed.resolve }
}

interleavingCases(
  harnessOf(async () => openR2UnderTest(r2InMemory(() => {}))),
  4,
)

test('a hold survives a Worker whose clock is an hour ahead of the bucket’s', async () => {
  const bucket = r2InMemory(() => {})
  const stopped = blockedAtMarker(bucket)
  const store = openR2Store({ bucket: stopped.bucket })
  const bytes = bytesFor(1, 3000)
  const record = await put(store, ID, bytes)
  const holds = store.hold(ID)
  await stopped.reached
  const other = openR2Store({ bucket, now: () => Date.now() + HOUR_MS })
  assert.deepEqual(await heldOf(other), [])
  stopped.resume()
  assert.equal(await holds, true)
  await assertHeld(store, record, bytes)
})
