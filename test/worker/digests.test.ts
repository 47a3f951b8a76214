/** What the queue knows of images when their store can't tell all. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createDigests } from '../../src/http/operator/cases.ts'
import { DamagedObject, type ImageRecord, StoreUnavailable } from '../../src/stores/object-store.ts'

it('tells of those that were looked up, and leaves out the others', async () => {
  const heads: Record<string, () => ImageRecord | null> = {
    there: () => ({ sha256: 'digest' }) as ImageRecord,
    gone: () => null,
    damaged: () => {
      throw new DamagedObject('damaged')
    },
    away: () => {
      throw new StoreUnavailable()
    },
  }
  const objects = { head: async (id: string) => heads[id]!(), headHeld: async () => null }
  const known = [
    ['there', 'digest'],
    ['gone', null],
  ]
  const all = ['there', 'gone', 'damaged', 'away']
  assert.deepEqual([...(await createDigests(objects).of(all))], known)
  assert.deepEqual([...(await createDigests(objects, 1).of(['there', ...all]))], known.slice(0, 1))
})
