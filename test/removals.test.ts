/** A purge is queued before an image is removed, and again afterwards, however long the removal takes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cdn } from '../src/cdn/cdn.ts'
import { createPurges } from '../src/service/images/purges.ts'
import { createMoves } from '../src/service/moderation/moves.ts'
import { createTakedown } from '../src/service/moderation/takedown.ts'
import { LedgerUnavailable } from '../src/stores/ledger.ts'
import { gif } from './support/images/tiny-images.ts'
import { inChunks } from './support/stored-images.ts'
import { imagesOn, storesOf } from './support/stores.ts'

const FILL_MS = 60_000

const cdn: Cdn = {
  name: 'none',
  batchSize: 1,
  rate: null,
  maxFillMs: FILL_MS,
  cacheHeaders: () => ({}),
  purge: async () => {},
}

for (const [act, state] of [
  ['delete', 'deleted'],
  ['hold', 'held'],
  ['remove', 'removed'],
] as const) {
  test(`queues a purge before and after: ${act}`, async (t) => {
    t.after(() => purges.stop())
    const { objects, ledger } = await storesOf(t)
    const pending = async () => (await ledger.pendingPurges()).count
    let moves = 0

    /** Called right before the image is moved: completes every purge queued so far. */
    async function beforeMove(id: string): Promise<void> {
      moves++
      assert.equal(await pending(), 1)
      if (state === 'deleted') assert.equal(await ledger.isGone(id), true)
      else assert.equal((await ledger.absenceReason(id))?.state, state)
      const later = Date.now() + 2 * FILL_MS
      await ledger.settlePurges(await ledger.claimPurges(1, later, 1000), later)
      assert.equal(await pending(), 0)
    }

    const parts = {
      ledger,
      objects: {
        ...objects,
        async remove(id: string, ...more: []) {
          await beforeMove(id)
          return objects.remove(id, ...more)
        },
        async hold(id: string) {
          await beforeMove(id)
          return objects.hold(id)
        },
      },
      now: Date.now,
      onFailure: assert.ifError,
    }
    const purges = createPurges({ ...parts, cdn })
    const images = imagesOn({ ...parts, purges })
    const takedown = createTakedown({ ...parts, moves: createMoves({ ...parts, purges }), evidence: null })
    const { record, key } = await images.publish(inChunks(gif()))
    if (act === 'delete') assert.equal(await images.remove(key), true)
    else if (act === 'hold') assert.equal(await takedown.hold(record.id, 'a report'), true)
    else await takedown.remove(record.id, 'terms', { block: false })
    assert.deepEqual([moves, await pending()], [1, 1])
  })
}

test('deletes an image while the ledger is unavailable, unless a restore relies on the ledger to report it', async (t) => {
  const { objects, ledger } = await storesOf(t)
  const recordDeletion = () => Promise.reject(new LedgerUnavailable())
  const parts = { objects, ledger: { ...ledger, recordDeletion } }
  const { record, key } = await imagesOn(parts).publish(inChunks(gif()))
  await assert.rejects(imagesOn({ ...parts, isReplicated: true }).remove(key), { code: 'unavailable' })
  assert.ok(await objects.head(record.id))
  assert.equal(await imagesOn(parts).remove(key), true)
  assert.equal(await objects.headDurable(record.id), 'retired')
})
