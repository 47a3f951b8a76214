/** Commits and replacements that race with a retirement or a hold, and a disk too full to retire an id. */
import assert from 'node:assert/strict'
import fs from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { wholeFile } from '../../../src/formats/image.ts'
import { IdTaken, StoreFull } from '../../../src/stores/object-store.ts'
import { replaceCall } from '../../support/disk-faults.ts'
import { storeFolder } from '../../support/store-folder.ts'
import { bytesFor, idFor, inChunks, put, recordOf } from '../../support/stored-images.ts'
import { until } from '../../support/until.ts'

const ID = idFor('a')

for (const operation of ['commit', 'replacement'] as const)
  for (const fate of ['retired', 'held'] as const)
    for (const size of [2000, 700_000]) {
      test(`a ${operation} of ${size} bytes does not use an id that is ${fate} after its check`, async (t) => {
        const { openStore, pathOf } = await storeFolder(t)
        const [store, other] = [await openStore(), await openStore()]
        const first = bytesFor(1, 3000)
        if (operation === 'replacement') await put(other, ID, first)
        const step = operation === 'commit' ? 'link' : 'rename'
        const original = fs.promises[step]
        const pause = Promise.withResolvers<void>()
        let isPaused = false
        replaceCall(t, fs.promises, step, async (...paths) => {
          if (!isPaused && paths[1] === pathOf(ID)) {
            isPaused = true
            await pause.promise
          }
          return original(...paths)
        })
        const bytes = bytesFor(2, size)
        const draft = await store.draft(inChunks(bytes), size)
        const writing =
          operation === 'commit'
            ? draft.commit(recordOf(ID, bytes), wholeFile(draft), { isContended: true })
            : draft.replace(recordOf(ID, bytes), wholeFile(draft))
        const outcome = writing.catch((error) => error)
        await until('the check is done', () => isPaused)
        // Meanwhile the image is held or removed.
        if (operation === 'commit') await put(other, ID, first)
        if (fate === 'held') assert.equal(await other.hold(ID), true)
        else assert.equal(await other.remove(ID, { retire: 'surely' }), true)
        pause.resolve()
        if (operation === 'commit') assert.ok((await outcome) instanceof IdTaken)
        else assert.equal(await outcome, fate === 'held' ? 'held' : null)
        for (const each of [store, other]) {
          assert.equal(await each.head(ID), null)
          if (fate === 'retired') assert.equal(await each.headDurable(ID), 'retired')
          assert.deepEqual(
            await each.headHeld(ID),
            fate === 'retired' ? null : recordOf(ID, operation === 'commit' ? first : bytes),
          )
        }
      })
    }

test('keeps an image whose id must be retired if the disk is too full to do so', async (t) => {
  const { folder, openStore } = await storeFolder(t)
  const store = await openStore()
  await put(store, ID, bytesFor(1, 2000))
  const { open } = fs.promises
  replaceCall(t, fs.promises, 'open', async (path, ...more) => {
    if (path === join(folder, 'retired', ID)) throw Object.assign(new Error('injected'), { code: 'ENOSPC' })
    return open(path, ...more)
  })
  await assert.rejects(store.remove(ID, { retire: 'surely' }), StoreFull)
  assert.ok(await store.head(ID))
  assert.equal(await store.remove(ID, { retire: 'unless-full' }), true)
})
