/** Salts in R2: isolates that disagree about one would count an address in two quotas. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { R2Bucket } from '../../src/stores/r2/binding.ts'
import { r2Salts } from '../../src/stores/r2/salts.ts'
import { r2InMemory } from '../support/worker/counted-bindings.ts'

const DAY = '2030-01-01'

it('keeps the salt of the isolate that stores one first', async () => {
  const bucket = r2InMemory(() => {})
  const first = 'a'.repeat(64)
  const put: R2Bucket['put'] = async (...args) => {
    assert.equal(await r2Salts(bucket).keep(DAY, first), first)
    return bucket.put(...args)
  }
  assert.equal(await r2Salts({ ...bucket, put }).keep(DAY, 'b'.repeat(64)), first)
})
