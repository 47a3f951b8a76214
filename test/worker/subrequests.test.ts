/** One request or trigger may make a thousand calls of R2 and D1: however much there is, each does its part within them. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { idFor, put } from '../support/stored-images.ts'
import { countedStores } from '../support/worker/counted-bindings.ts'
import { startHostHere } from '../support/worker/host-here.ts'

const MANY = 1000

for (const minute of ['01', '15']) {
  it(`purges although ${MANY} images are held, in the minute ${minute}`, async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.parse(`2026-07-01T12:${minute}:30Z`) })
    const stores = await countedStores()
    for (let nth = 0; nth < MANY; nth++) {
      await put(stores.objects, idFor(nth), Buffer.from(`${nth}`))
      assert.ok(await stores.objects.hold(idFor(nth)))
    }
    const purged: string[] = []
    const purge = async ({ tags }: { tags: string[] }) => {
      purged.push(...tags)
      return { success: true }
    }
    const variables = { CDN_URL: 'workers-cache://default' }
    const { trigger } = await startHostHere(t, { stores, variables, cache: { purge } })
    await stores.ledger.enqueuePurge(idFor('gone'), Date.now(), Date.now())
    const { calls } = await stores.within(trigger)
    assert.deepEqual(purged, [`i-${idFor('gone')}`])
    assert.ok(calls < 500, `${calls} calls`)
  })
}
