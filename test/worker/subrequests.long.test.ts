/** A request or trigger may make a thousand calls to R2 and D1. Each stays within that limit, however much there is to do. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { newId } from '../../src/service/images/ids.ts'
import type { Report } from '../../src/stores/reports.ts'
import { idFor, put } from '../support/stored-images.ts'
import { countedStores } from '../support/worker/counted-bindings.ts'
import { startHostHere } from '../support/worker/host-here.ts'

const MANY = 1000
const OPERATOR_URL = 'https://ops.example'
const TOKEN = 'a-token-of-more-than-24-characters'

async function storeMany(
  t: TestContext,
  count: number,
  idOf: (i: number) => string = idFor,
  variables: Record<string, string> = {},
) {
  const stores = await countedStores()
  const ids = Array.from({ length: count }, (_, i) => idOf(i))
  for (const id of ids) await put(stores.objects, id, Buffer.from(id))
  const purged: string[] = []
  const purge = async ({ tags }: { tags: string[] }) => {
    purged.push(...tags)
    return { success: true }
  }
  const { host, trigger, ask } = await startHostHere(t, {
    stores,
    cache: { purge },
    variables: { CDN_URL: 'workers-cache://default', OPERATOR_URL, OPERATOR_TOKEN: TOKEN, ...variables },
  })
  /** Posts the form, or loads the page without one. */
  const operate = (path: string, form?: Record<string, string>) =>
    stores.within(async () => {
      const background: Promise<unknown>[] = []
      const request = new Request(OPERATOR_URL + path, {
        headers: { Authorization: `Bearer ${TOKEN}` },
        ...(form && { method: 'POST', body: new URLSearchParams(form) }),
      })
      const response = await host.fetch(request, { waitUntil: (work) => void background.push(work) })
      await Promise.all(background)
      return { status: response.status, text: await response.text() }
    })
  const view = async (id: string) => (await ask('GET', `/raw/${id}`)).status
  return { ...stores, ids, purged, trigger: () => stores.within(trigger), operate, view }
}

for (const minute of ['01', '15']) {
  it(`purges while ${MANY} images are held, in minute ${minute}`, async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.parse(`2026-07-01T12:${minute}:30Z`) })
    const { objects, ledger, ids, purged, trigger } = await storeMany(t, MANY)
    for (const id of ids) assert.ok(await objects.hold(id))
    await ledger.enqueuePurge(idFor('gone'), Date.now(), Date.now())
    const { calls } = await trigger()
    assert.deepEqual(purged, [`i-${idFor('gone')}`])
    assert.ok(calls < 500, `${calls} calls`)
  })
}

it(`cleans up after crashed holds in time while ${MANY} images are held`, async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-07-01T12:15:30Z') })
  const { bucket, objects, ids, trigger } = await storeMany(t, MANY, newId)
  for (const id of ids) assert.ok(await objects.hold(id))
  const left = ['0', 'M', 'm', 'z'].map((letter) => `held/${letter.repeat(11)}.a-crashed-hold`)
  for (const key of left) await bucket.put(key, new Uint8Array(3))
  const isLeft = async () => (await Promise.all(left.map((key) => bucket.head(key)))).some(Boolean)
  // Each trigger scans a fifth of the keys: the chance that 300 triggers all miss one is below 1 in 10^28.
  for (let triggers = 0; await isLeft(); triggers++) {
    assert.ok(triggers < 300, 'everything is cleaned up')
    t.mock.timers.setTime(Date.now() + 15 * 60_000)
    const { calls } = await trigger()
    assert.ok(calls < 500, `${calls} calls`)
  }
  for (const id of ids) assert.ok(await objects.headHeld(id))
})

for (const [state, count] of [
  ['open', MANY],
  ['held', MANY / 2],
] as const) {
  it(`shows the queue and a case while ${count} are ${state}`, async (t) => {
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

it('holds a flood in batches and states the maximum batch size', async (t) => {
  const { objects, ids, operate } = await storeMany(t, 150)
  const hold = (some: string[]) => operate('/floods', { images: some.join(' '), reason: 'a flood' })
  const isHeld = async (id: string) => (await objects.headHeld(id)) !== null
  const { result } = await hold(ids)
  assert.equal(result.status, 400)
  assert.match(result.text, /At most 60 can be held at a time/)
  for (let from = 0; from < ids.length; from += 60) {
    const { result, calls } = await hold(ids.slice(from, from + 60))
    assert.equal(result.status, 303)
    assert.ok(calls < 900, `${calls} calls`)
  }
  for (const id of ids) assert.ok(await isHeld(id))
})

it('purges while a hundred removals are due, and carries those out over several triggers', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-07-01T12:01:30Z') })
  const { ledger, ids, purged, trigger } = await storeMany(t, 100)
  const at = Date.now()
  const decision = { batch: 'a', act: 'remove', block: true, reason: 'a flood', who: 'me', rule: '' } as const
  const images = ids.map((id) => ({ id, isVisible: true }))
  await ledger.addDecisions({ ...decision, at, dueAt: at }, images)
  const countGone = async () =>
    (await Promise.all(ids.map((id) => ledger.absenceReason(id)))).filter((why) => why?.state === 'removed')
      .length
  for (let gone = 0; gone < ids.length; ) {
    t.mock.timers.setTime(Date.now() + 2 * 60_000)
    const { calls } = await trigger()
    assert.ok(calls < 900, `${calls} calls`)
    const before = gone
    gone = await countGone()
    assert.ok(gone > before)
    assert.ok(purged.length > 0)
  }
})

it('deletes 128 expired images per trigger, and hides the others meanwhile', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-07-01T12:01:30Z') })
  const { objects, bucket, ledger, view, trigger } = await storeMany(t, 0)
  const ids = Array.from({ length: 300 }, (_, i) => idFor(i))
  const expiresAt = Date.now() - 10 * 60_000
  for (const id of ids) {
    await put(objects, id, Buffer.from(id), { expiresAt: new Date(expiresAt).toISOString() })
  }
  await ledger.recordExpiries(ids.map((id) => ({ id, expiresAt })))
  const countLeft = async () =>
    (await Promise.all(ids.map((id) => bucket.head(id)))).filter((object) => object!.size === 11).length
  for (const left of [172, 44, 0]) {
    const { calls } = await trigger()
    assert.ok(calls < 900, `${calls} calls`)
    assert.equal(await countLeft(), left)
    assert.equal(await view(ids.at(-1)!), 404)
    t.mock.timers.setTime(Date.now() + 60_000)
  }
})

it('purges while hundreds of severe reports are overdue, and resolves their alerts once they are decided', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-07-01T12:01:30Z') })
  const { ledger, ids, purged, trigger } = await storeMany(t, 300)
  const countAlerts = async () => (await ledger.activeAlerts()).length
  const runUntil = async (count: number) => {
    while ((await countAlerts()) !== count) {
      t.mock.timers.setTime(Date.now() + 60_000)
      const [id, alerts] = [newId(), await countAlerts()]
      await ledger.enqueuePurge(id, Date.now(), Date.now())
      const { calls } = await trigger()
      assert.ok(calls < 900, `${calls} calls`)
      assert.ok(purged.includes(`i-${id}`))
      assert.notEqual(await countAlerts(), alerts)
    }
  }
  for (const id of ids) await ledger.fileReport({ ...reportOf(id), severity: 1 }, 1)
  // Each is urgent and due.
  await runUntil(2 * ids.length)
  for (const id of ids) await ledger.recordHold(id, 'a flood', new Date())
  await runUntil(0)
})

it('purges while a hundred images that no scanner looked at are due for removal', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-07-01T12:01:30Z') })
  const scanning = { SCAN: 'before', SCAN_FAULT: 'refuse' }
  const { objects, ledger, ids, purged, trigger } = await storeMany(t, 100, idFor, scanning)
  for (const id of ids) {
    await ledger.recordScan({ id, at: Date.now(), dueAt: Date.now(), isHidden: true })
    assert.ok(await objects.hold(id))
  }
  for (let left = ids.length; left > 0; left = (await ledger.pendingScans()).count) {
    t.mock.timers.setTime(Date.now() + 60_000)
    const { calls } = await trigger()
    assert.ok(calls < 900, `${calls} calls`)
    assert.ok((await ledger.pendingScans()).count < left)
    assert.ok(purged.length > 0)
  }
})

function reportOf(id: string): Report {
  const [at, severity] = [Date.now(), 5]
  const own = { id, receiptSha256: id, sharedReceiptSha256: `shared ${id}` }
  const said = { category: 'other', text: 'x', contact: '', keepsText: true, isCrowded: false }
  return { ...own, ...said, day: '2026-07-01', at, dueAt: at, severity, raises: null }
}
