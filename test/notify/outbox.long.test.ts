/** Notices stay in the ledger until every receiver has them. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { RemoteFailure } from '../../src/errors.ts'
import type { Notice, Notifier } from '../../src/notify/notifier.ts'
import { createNotices, QUIET_MS } from '../../src/service/moderation/notices.ts'
import { atAdmin } from '../support/at-admin.ts'
import { ledgerOf } from '../support/ledger.ts'
import { startFakeProvider } from '../support/processes/fake-provider.ts'
import { serverFor } from '../support/processes/server.ts'
import { report } from '../support/report.ts'
import { until } from '../support/until.ts'
import { store } from '../support/upload.ts'

test('delivers an urgent report once, after failures and a killed server, without its text', async (t) => {
  const receiver = await startFakeProvider()
  const server = await serverFor(t, { NOTIFY: `ntfy://${receiver.host}/ops?tls=off`, WORKERS: '2' })
  t.after(() => receiver.stop())
  const pending = async () => {
    const { text } = await atAdmin(server.dataDir, 'GET', '/metrics')
    return Number(/^pinhole_notices_pending (\d+)$/m.exec(text)?.[1] ?? assert.fail(text))
  }
  assert.equal(await pending(), 0)
  const { id } = await store(server.url)
  const text = 'My garden, without my leave.'
  await report(server.url, id, { category: 'child-abuse', text, name: 'Ada', email: 'a@b.example' })
  await until('a delivery is attempted', async () => receiver.asked.length >= 1)
  await until('it is pending', async () => (await pending()) === 1)
  await server.kill()
  receiver.asked.length = 0
  receiver.answer({ status: 200 })
  await server.restart()
  await until('the receiver has it', async () => (await pending()) === 0, 60_000)
  assert.equal(receiver.asked.length, 1)
  const { topic, title, priority } = JSON.parse(receiver.asked[0]!.body)
  assert.deepEqual([topic, title, priority], ['ops', 'Pinhole: 1 urgent report', 5])
  assert.doesNotMatch(receiver.asked[0]!.body, /garden|Ada/)
  assert.ok(!receiver.asked[0]!.body.includes(id))
})

/** Notices to these receivers, of which only `failing` may fail. The clock advances with each look at it. */
async function noticesTo(t: TestContext, notifiers: Notifier[], failing: string) {
  t.after(() => notices.stop())
  const ledger = await ledgerOf(t)
  const clock = { now: Date.now() }
  const notices = createNotices({
    ledger,
    notifiers,
    link: 'https://door.example',
    now: () => ++clock.now,
    onFailure: (_, name) => assert.equal(name, failing),
    intervalMs: 5,
  })
  const raise = (kind: string) =>
    ledger.raiseAlert(crypto.randomUUID(), new Date(clock.now), { raises: kind, pause: null })
  return { notices, clock, raise }
}

test('does not resend a notice to a receiver that has it when another receiver fails', async (t) => {
  let failures = 2
  const got: [string, Notice][] = []
  const receiver = (name: string, fails: boolean): Notifier => ({
    name,
    async deliver(notice) {
      if (fails && failures-- > 0) throw new RemoteFailure('busy', 1)
      got.push([name, notice])
    },
  })
  const { notices, clock, raise } = await noticesTo(t, [receiver('a', false), receiver('b', true)], 'b')
  await raise('cap.reached')
  notices.start()
  await until('both have it', async () => (await notices.pending()) === 0)
  assert.deepEqual(
    got.map(([name]) => name),
    ['a', 'b'],
  )
  assert.equal(got[0]![1].id, got[1]![1].id)
  assert.deepEqual([got[0]![1].isUrgent, got[0]![1].link], [false, 'https://door.example'])
  await raise('cap.reached')
  await raise('uploads.paused')
  await until('the pause is delivered', async () => got.length === 4)
  assert.deepEqual(new Set(got.slice(2).map(([, { kind }]) => kind)), new Set(['uploads.paused']))
  clock.now += QUIET_MS
  await until('the daily limit is delivered again', async () => got.length === 6)
})

test('a receiver that is down does not withhold later events from the others', async (t) => {
  let isDead = true
  const got: [string, string][] = []
  const receiver = (name: string): Notifier => ({
    name,
    async deliver({ title }) {
      if (name === 'dead' && isDead) throw new RemoteFailure('away')
      got.push([name, title])
    },
  })
  const { notices, clock, raise } = await noticesTo(t, [receiver('dead'), receiver('other')], 'dead')
  await raise('case.urgent')
  notices.start()
  await until('the first is delivered', () => got.length === 1)
  await raise('case.urgent')
  await raise('case.urgent')
  clock.now += QUIET_MS
  await until('the next are delivered', () => got.length === 2)
  isDead = false
  clock.now += QUIET_MS
  await until('all have it', async () => (await notices.pending()) === 0)
  assert.deepEqual(got, [
    ['other', 'Pinhole: 1 urgent report'],
    ['other', 'Pinhole: 3 urgent reports'],
    ['dead', 'Pinhole: 3 urgent reports'],
  ])
})

test('ordinary reports are notified at most once an hour', async (t) => {
  const got: string[] = []
  const receiver: Notifier = {
    name: 'a',
    async deliver({ kind }) {
      got.push(kind)
    },
  }
  const { notices, clock, raise } = await noticesTo(t, [receiver], 'none')
  await raise('case.new')
  notices.start()
  await until('the first is delivered', async () => got.length === 1 && (await notices.pending()) === 0)
  await raise('case.new')
  clock.now += QUIET_MS
  await raise('cap.reached')
  await until('the other kind is delivered', () => got.includes('cap.reached'))
  assert.deepEqual(got, ['case.new', 'cap.reached'])
  clock.now += 3_600_000
  await until('the hour is over', () => got.length === 3)
})
