/** Image digests of the review queue while the store is partly unavailable, or known to lack an image. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createDigests } from '../../src/http/operator/cases.ts'
import { DamagedObject, type ImageRecord, StoreUnavailable } from '../../src/stores/object-store.ts'

it('returns the digests that it could look up and leaves out the others', async () => {
  const heads: Record<string, () => ImageRecord | null> = {
    present: () => ({ sha256: 'digest' }) as ImageRecord,
    gone: () => null,
    damaged: () => {
      throw new DamagedObject('damaged')
    },
    unavailable: () => {
      throw new StoreUnavailable()
    },
  }
  const objects = { head: async (id: string) => heads[id]!(), headHeld: async () => null }
  const expected = [
    ['present', 'digest'],
    ['gone', null],
  ]
  const all = ['present', 'gone', 'damaged', 'unavailable'].map((id) => ({ id }))
  assert.deepEqual([...(await createDigests(objects).of(all))], expected)
  assert.deepEqual([...(await createDigests(objects, 1).of([all[0]!, ...all]))], expected.slice(0, 1))
  const known = { id: 'unavailable', isImageGone: true }
  assert.deepEqual([...(await createDigests(objects).of([known]))], [['unavailable', null]], 'not looked up')
})
