/** A commit or a replacement that another process overtakes between its look and its step; and a disk that is too full to retire an id. */
import assert from 'node:assert/strict'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { wholeOf } from '../../../src/formats/image.ts'
import { IdTaken, StoreFull } from '../../../src/stores/object-store.ts'
import { storeFolder } from '../../support/store-folder.ts'
import { bytesFor, idFor, inChunks, put, recordOf } from '../../support/stored-images.ts'
import { until } from '../../support/until.ts'

const ID = idFor('a')

for (const what of ['commit', 'replacement'] as const)
  for (const act of ['retired', 'held'] as const)
    for (const size of [2000, 700_000]) {
      test(`a ${what} of ${size} bytes that looked before the id was ${act} does not take it after`, async (t) => {
        const { openStore, pathOf } = await storeFolder(t)
        const [store, other] = [await openStore(), await openStore()]
        const first = bytesFor(1, 3000)
        if (what === 'replacement') await put(other, ID, first)
        const step = what === 'commit' ? 'link' : 'rename'
        const original = fs.promises[step]
        t.after(() => {
          fs.promises[step] = original
          syncBuiltinESMExports()
        })
        let goOn = () => {}
        let isAsleep = false
        fs.promises[step] = async (...paths) => {
          if (!isAsleep && paths[1] === pathOf(ID)) {
            isAsleep = true
            await new Promise<void>((resolve) => {
              goOn = resolve
            })
          }
          return original(...paths)
        }
        syncBuiltinESMExports()
        const bytes = bytesFor(2, size)
        const draft = await store.draft(inChunks(bytes), size)
        const taking =
          what === 'commit'
            ? draft.commit(recordOf(ID, bytes), wholeOf(draft), { isContended: true })
            : draft.replace(recordOf(ID, bytes), wholeOf(draft))
        const outcome = taking.catch((error) => error)
        await until('it has looked', () => isAsleep)
        // Meanwhile the image goes.
        if (what === 'commit') await put(other, ID, first)
        if (act === 'held') assert.equal(await other.hold(ID), true)
        else assert.equal(await other.remove(ID, { retire: 'surely' }), true)
        goOn()
        if (what === 'commit') assert.ok((await outcome) instanceof IdTaken)
        else assert.equal(await outcome, act === 'held' ? 'held' : null)
        for (const each of [store, other]) {
          assert.equal(await each.head(ID), null)
          if (act === 'retired') assert.equal(await each.headDurable(ID), 'retired')
          assert.deepEqual(
            await each.headHeld(ID),
            act === 'retired' ? null : recordOf(ID, what === 'commit' ? first : bytes),
          )
        }
      })
    }

test('an image whose id must be retired stays while the disk is too full for that', async (t) => {
  const { folder, openStore } = await storeFolder(t)
  const store = await openStore()
  await put(store, ID, bytesFor(1, 2000))
  const { open } = fs.promises
  t.after(() => {
    fs.promises.open = open
    syncBuiltinESMExports()
  })
  fs.promises.open = async (path, ...more) => {
    if (path === join(folder, 'retired', ID)) throw Object.assign(new Error('injected'), { code: 'ENOSPC' })
    return open(path, ...more)
  }
  syncBuiltinESMExports()
  await assert.rejects(store.remove(ID, { retire: 'surely' }), StoreFull)
  assert.ok(await store.head(ID))
  assert.equal(await store.remove(ID, { retire: 'unless-full' }), true)
})
