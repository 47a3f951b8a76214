/** Notices stay in the ledger until every receiver has them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RemoteFailure } from '../../src/errors.ts'
import type { Notice, Notifier } from '../../src/notify/notifier.ts'
import { createNotices, QUIET_MS } from '../../src/service/moderation/notices.ts'
import { atAdmin } from '../support/at-admin.ts'
import { ledgerOf } from '../support/ledger.ts'
import { startFakeProvider } from '../support/processes/fake-provider.ts'
import { startServer } from '../support/processes/server.ts'
import { report } from '../support/report.ts'
import { until } from '../support/until.ts'
import { store } from '../support/upload.ts'

test('delivers an urgent report once, after failures and a killed server, without its text', async () => {
  const receiver = await startFakeProvider()
  const server = await startServer({ NOTIFY: `ntfy://${receiver.host}/ops?tls=off`, WORKERS: '2' })
  const pending = async () => {
    const { text } = await atAdmin(server.dataDir, 'GET', '/metrics')
    return Number(/^pinhole_notices_pending (\d+)$/m.exec(text)?.[1] ?? assert.fail(text))
  }
  try {
    assert.equal(await pending(), 0)
    const { id } = await store(server.url)
    const text = 'My garden, without my leave.'
    await report(server.url, id, { category: 'child-abuse', text, name: 'Ada', email: 'a@b.example' })
    await until('a delivery is attempted', async () => receiver.asked.length >= 1)
    assert.equal(await pending(), 1)
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
  } finally {
    await server.stop()
    await receiver.stop()
  }
})

test('does not resend a notice to a receiver that has it when another receiver fails', async (t) => {
  t.after(() => notices.stop())
  const ledger = await ledgerOf(t)
  let now = Date.now()
  let failures = 2
  const got: [string, Notice][] = []
  const receiver = (name: string, fails: boolean): Notifier => ({
    name,
    async deliver(notice) {
      if (fails && failures-- > 0) throw new RemoteFailure('busy', 1)
      got.push([name, notice])
    },
  })
  const raise = (kind: string) =>
    ledger.raiseAlert(crypto.randomUUID(), new Date(now), { raises: kind, pause: null })
  const notices = createNotices({
    ledger,
    notifiers: [receiver('a', false), receiver('b', true)],
    link: 'https://door.example',
    now: () => ++now,
    onFailure: (_, name) => assert.equal(name, 'b'),
    intervalMs: 5,
  })
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
  now += QUIET_MS
  await until('the daily limit is delivered again', async () => got.length === 6)
})

test('a receiver that is down does not withhold later events from the others', async (t) => {
  t.after(() => notices.stop())
  const ledger = await ledgerOf(t)
  let now = Date.now()
  let isDead = true
  const got: [string, string][] = []
  const receiver = (name: string): Notifier => ({
    name,
    async deliver({ title }) {
      if (name === 'dead' && isDead) throw new RemoteFailure('away')
      got.push([name, title])
    },
  })
  const raise = () =>
    ledger.raiseAlert(crypto.randomUUID(), new Date(now), { raises: 'case.urgent', pause: null })
  const notices = createNotices({
    ledger,
    notifiers: [receiver('dead'), receiver('other')],
    link: null,
    now: () => ++now,
    onFailure: (_, name) => assert.equal(name, 'dead'),
    intervalMs: 5,
  })
  await raise()
  notices.start()
  await until('the first is delivered', () => got.length === 1)
  await raise()
  await raise()
  now += QUIET_MS
  await until('the next are delivered', () => got.length === 2)
  isDead = false
  now += QUIET_MS
  await until('all have it', async () => (await notices.pending()) === 0)
  assert.deepEqual(got, [
    ['other', 'Pinhole: 1 urgent report'],
    ['other', 'Pinhole: 3 urgent reports'],
    ['dead', 'Pinhole: 3 urgent reports'],
  ])
})
