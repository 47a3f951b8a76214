/** A commit that another process overtakes between its look and its link. */
import assert from 'node:assert/strict'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { test } from 'node:test'
import { IdTaken } from '../../../src/stores/object-store.ts'
import { storeFolder } from '../../support/store-folder.ts'
import { bytesFor, idFor, inChunks, put, recordOf } from '../../support/stored-images.ts'
import { until } from '../../support/until.ts'

const ID = idFor('a')

for (const size of [2000, 700_000]) {
  test(`a commit of ${size} bytes that looked before the id was retired does not take it after`, async (t) => {
    const { openStore } = await storeFolder(t)
    const [store, other] = [await openStore(), await openStore()]
    const { link } = fs.promises
    t.after(() => {
      fs.promises.link = link
      syncBuiltinESMExports()
    })
    let goOn = () => {}
    let isAsleep = false
    fs.promises.link = async (...paths) => {
      isAsleep = true
      await new Promise<void>((resolve) => {
        goOn = resolve
      })
      return link(...paths)
    }
    syncBuiltinESMExports()
    const bytes = bytesFor(2, size)
    const draft = await store.draft(inChunks(bytes), size)
    const commit = draft
      .commit(recordOf(ID, bytes), [{ offset: 0, length: size }], { isContended: true })
      .catch((error) => error)
    await until('it has looked', () => isAsleep)
    // Meanwhile the id is given, and taken back.
    await put(other, ID, bytesFor(1, 3000))
    assert.equal(await other.remove(ID, { retire: 'surely' }), true)
    goOn()
    assert.ok((await commit) instanceof IdTaken)
    for (const each of [store, other]) {
      assert.equal(await each.head(ID), null)
      assert.equal(await each.headDurable(ID), 'retired')
    }
  })
}
