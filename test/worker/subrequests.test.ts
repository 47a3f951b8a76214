/** One request or trigger may make a thousand calls of R2 and D1: however much there is, each does its part within them. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import type { Report } from '../../src/stores/reports.ts'
import { idFor, put } from '../support/stored-images.ts'
import { countedStores } from '../support/worker/counted-bindings.ts'
import { startHostHere } from '../support/worker/host-here.ts'

const MANY = 1000
const DOOR = 'https://ops.example'
const TOKEN = 'a-token-of-more-than-24-characters'

async function storeMany(t: TestContext, count: number) {
  const stores = await countedStores()
  const ids = Array.from({ length: count }, (_, nth) => idFor(nth))
  for (const id of ids) await put(stores.objects, id, Buffer.from(id))
  const purged: string[] = []
  const purge = async ({ tags }: { tags: string[] }) => {
    purged.push(...tags)
    return { success: true }
  }
  const { host, trigger } = await startHostHere(t, {
    stores,
    cache: { purge },
    variables: { CDN_URL: 'workers-cache://default', OPERATOR_URL: DOOR, OPERATOR_TOKEN: TOKEN },
  })
  /** A form is sent, a page is read. */
  const operate = (path: string, form?: Record<string, string>) =>
    stores.within(async () => {
      const behind: Promise<unknown>[] = []
      const request = new Request(DOOR + path, {
        headers: { Authorization: `Bearer ${TOKEN}` },
        ...(form && { method: 'POST', body: new URLSearchParams(form) }),
      })
      const response = await host.fetch(request, { waitUntil: (work) => void behind.push(work) })
      await Promise.all(behind)
      return { status: response.status, text: await response.text() }
    })
  return { ...stores, ids, purged, trigger: () => stores.within(trigger), operate }
}

for (const minute of ['01', '15']) {
  it(`purges although ${MANY} images are held, in the minute ${minute}`, async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.parse(`2026-07-01T12:${minute}:30Z`) })
    const { objects, ledger, ids, purged, trigger } = await storeMany(t, MANY)
    for (const id of ids) assert.ok(await objects.hold(id))
    await ledger.enqueuePurge(idFor('gone'), Date.now(), Date.now())
    const { calls } = await trigger()
    assert.deepEqual(purged, [`i-${idFor('gone')}`])
    assert.ok(calls < 500, `${calls} calls`)
  })
}

for (const [state, count] of [
  ['open', MANY],
  ['held', MANY / 2],
] as const) {
  it(`shows the queue and a case although ${count} are ${state}`, async (t) => {
    const { objects, ledger, ids, operate } = await storeMany(t, count)
    for (const id of ids) {
      await ledger.fileReport(reportOf(id), 1)
      if (state === 'open') continue
      await objects.hold(id)
      await ledger.recordHold(id, 'a flood', new Date())
    }
    for (const path of [`/queue?state=${state}`, `/cases/${ids.at(-1)}`]) {
      const { result, calls } = await operate(path)
      assert.equal(result.status, 200)
      assert.doesNotMatch(result.text, /not here/)
      assert.ok(calls < 500, `${calls} calls`)
    }
  })
}

function reportOf(id: string): Report {
  const [at, severity] = [Date.now(), 5]
  const own = { id, receiptSha256: id, sharedReceiptSha256: `shared ${id}` }
  const said = { category: 'other', text: 'x', contact: '', keepsWords: true, isCrowded: false }
  return { ...own, ...said, day: '2026-07-01', at, dueAt: at, severity, raises: null }
}
