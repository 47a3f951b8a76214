/** Alerts: each condition sends one notice, and an unanswered urgent report pauses uploads. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { NO_PURGES, type Purges } from '../src/service/images/purges.ts'
import { createMonitor } from '../src/service/moderation/monitor.ts'
import { createSettings, type SettingValues } from '../src/service/settings.ts'
import type { Ledger } from '../src/stores/ledger.ts'
import type { Report } from '../src/stores/reports.ts'
import { storeOf } from './support/ids.ts'
import { ledgerOf } from './support/ledger.ts'

const START = Date.parse('2026-07-31T12:00:00Z')
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DEFAULTS: SettingValues = {
  uploads: 'on',
  images: 'public',
  challenge: 'off',
  'challenge-rate': 1200,
  'daily-uploads': 0,
  'daily-bytes': 0,
  'network-uploads': 0,
  'min-free-bytes': 0,
  'unanswered-minutes': 60,
}

interface Scene {
  ledger: Ledger
  clock: { now: number }
  world: {
    used: number | null
    purgeSeconds: number
    tombstoneSeconds: number
    hasReceivers: boolean
    gone: Set<string>
    asked: string[]
  }
  /** Runs a check on one of several servers. */
  check(machine?: string): Promise<void>
  report(id: string, severity: number, hours: number, more?: Partial<Report>): Promise<void>
  /** Pending notices as kind and count. Marks them as delivered. */
  notices(): Promise<string[]>
}

async function sceneFor(t: TestContext, defaults: Partial<SettingValues> = {}): Promise<Scene> {
  const ledger = await ledgerOf(t)
  const clock = { now: START }
  const world = {
    used: 0.5,
    purgeSeconds: 0,
    tombstoneSeconds: 0,
    hasReceivers: true,
    gone: new Set<string>(),
    asked: [] as string[],
  }
  const purges: Purges = {
    ...NO_PURGES,
    pending: async () => ({ count: 1, oldestSeconds: world.purgeSeconds }),
  }
  const now = () => clock.now
  const settings = createSettings({
    ledger,
    defaults: { ...DEFAULTS, ...defaults },
    now,
    onFailure: () => {},
  })
  const monitorOf = (machine: string) =>
    createMonitor({
      objects: storeOf((id) => {
        world.asked.push(id)
        return !world.gone.has(id)
      }),
      ledger,
      settings,
      purges,
      tombstones: { pending: async () => ({ count: 1, oldestSeconds: world.tombstoneSeconds }) },
      now,
      diskUsed: () => world.used,
      machine,
      hasReceivers: world.hasReceivers,
      onPause: () => {},
      onFailure: (error) => assert.fail(error as Error),
    })
  return {
    ledger,
    clock,
    world,
    check: (machine = 'a') => monitorOf(machine).check(),
    async report(id, severity, hours, more = {}) {
      const report: Report = {
        id,
        category: 'x',
        text: '',
        contact: '',
        day: '2026-07-31',
        receiptSha256: id,
        sharedReceiptSha256: `shared ${id}`,
        keepsText: true,
        isCrowded: false,
        at: clock.now,
        severity,
        dueAt: clock.now + hours * HOUR_MS,
        raises: null,
        ...more,
      }
      assert.equal(await ledger.fileReport(report, 9), 'filed')
    },
    async notices() {
      const claimed = await ledger.claimNotices(clock.now + HOUR_MS, 1)
      for (const notice of claimed) await ledger.settleNotice(notice, clock.now, clock.now)
      return claimed.map(({ kind, count }) => `${kind} ${count}`).sort()
    },
  }
}

test('an urgent report that is unanswered for an hour pauses uploads once, with a notice', async (t) => {
  const { ledger, clock, check, report, notices } = await sceneFor(t)
  await report('AAAAAAAAAAA', 1, 48)
  await check()
  clock.now += 59 * MINUTE_MS
  await check()
  assert.deepEqual(await ledger.settings(), {})
  clock.now += 2 * MINUTE_MS
  await Promise.all([check('a'), check('b'), check('c')])
  assert.deepEqual(await ledger.settings(), { uploads: 'paused' })
  assert.deepEqual(await notices(), ['uploads.paused 1'])
  const [act] = await ledger.auditLog(10)
  assert.deepEqual([act?.subject, act?.who], ['uploads=paused', 'pinhole'])
  await ledger.changeSettings({ uploads: null }, 'seen', new Date(clock.now))
  clock.now += HOUR_MS
  await check()
  assert.deepEqual(await ledger.settings(), {}, 'after resuming, the same report does not pause again')
  await report('BBBBBBBBBBB', 0, 48)
  await check()
  clock.now += HOUR_MS
  await check()
  assert.deepEqual(await ledger.settings(), { uploads: 'paused' }, 'another report does')
})

test('reports that are answered, not urgent, or without receivers do not pause uploads', async (t) => {
  const assertNoPause = async (
    change: (scene: Scene) => Promise<unknown>,
    severity = 0,
    defaults: Partial<SettingValues> = {},
  ) => {
    const scene = await sceneFor(t, defaults)
    await scene.report('AAAAAAAAAAA', severity, 48)
    await change(scene)
    await scene.check()
    scene.clock.now += 2 * HOUR_MS
    await scene.check()
    assert.deepEqual(await scene.ledger.settings(), {})
  }
  await assertNoPause(({ ledger }) => ledger.recordHold('AAAAAAAAAAA', 'seen', new Date(START)))
  await assertNoPause(({ ledger }) => ledger.recordDeletion('AAAAAAAAAAA', new Date(START)))
  await assertNoPause(async ({ world }) => {
    world.gone.add('AAAAAAAAAAA')
  })
  await assertNoPause(async () => {}, 2)
  await assertNoPause(async ({ world }) => {
    world.hasReceivers = false
  })
  await assertNoPause(async () => {}, 0, { 'unanswered-minutes': 0 })
})

test('a case without an image, or reported only by crowded networks, neither pauses nor notifies', async (t) => {
  const { ledger, clock, world, check, report, notices } = await sceneFor(t)
  await report('AAAAAAAAAAA', 0, 1)
  await report('BBBBBBBBBBB', 0, 1, { isCrowded: true })
  await check()
  assert.deepEqual(world.asked, [], 'without an alert, there is no store lookup')
  world.gone.add('AAAAAAAAAAA')
  clock.now += 2 * HOUR_MS
  for (let count = 0; count < 3; count++) await check()
  assert.deepEqual(await ledger.settings(), {})
  assert.deepEqual(await notices(), [])
  // Each lookup checks for a visible image twice, as it may be released in between.
  assert.deepEqual(world.asked, Array(4).fill('AAAAAAAAAAA'), 'one lookup for each of the two conditions')
  assert.equal((await ledger.caseOf('AAAAAAAAAAA'))?.isImageGone, true)
  await report('BBBBBBBBBBB', 0, 1, { receiptSha256: 'another reporter' })
  clock.now += 2 * HOUR_MS
  await check()
  clock.now += 2 * HOUR_MS
  await check()
  assert.deepEqual(await ledger.settings(), { uploads: 'paused' }, 'another reporter confirmed it')
})

test('a flood alert stays active until the end of its day', async (t) => {
  const { ledger, clock, check } = await sceneFor(t)
  const raise = () => ledger.raiseAlert('flood 2026-07-31', new Date(clock.now), { raises: 'a', pause: null })
  assert.equal(await raise(), true)
  await check()
  assert.equal(await raise(), false)
  clock.now += 24 * HOUR_MS
  await check()
  assert.deepEqual(await ledger.activeAlerts(), [])
})

test('a case that is due soon sends one notice', async (t) => {
  const { clock, check, report, notices } = await sceneFor(t)
  await report('AAAAAAAAAAA', 3, 72)
  await report('BBBBBBBBBBB', 4, 8)
  await check()
  assert.deepEqual(await notices(), [])
  clock.now += 6 * HOUR_MS + MINUTE_MS
  await Promise.all([check('a'), check('b')])
  assert.deepEqual(await notices(), ['case.due 1'])
  clock.now += 60 * HOUR_MS
  await check()
  await check()
  assert.deepEqual(await notices(), ['case.due 1'], 'for the other case only')
})

test('a disk alert of a vanished machine expires, and is raised again if the disk is still full', async (t) => {
  const { clock, ledger, world, check, notices } = await sceneFor(t)
  const active = async () => (await ledger.activeAlerts()).map(({ name }) => name)
  world.used = 0.91
  await check('container-1')
  assert.deepEqual(await notices(), ['disk.high 1'])
  await check('container-2')
  assert.deepEqual(await active(), ['disk container-1', 'disk container-2'])
  clock.now += 25 * HOUR_MS
  await check('container-2')
  assert.deepEqual(await active(), ['disk container-2'])
  await notices()
  await check('container-1')
  assert.deepEqual(await notices(), ['disk.high 1'])
})

test('a stuck purge and a full disk send a notice when they begin, and another when they recur', async (t) => {
  const { world, check, notices } = await sceneFor(t)
  world.purgeSeconds = 301
  world.used = 0.91
  await check('a')
  await check('b')
  assert.deepEqual(await notices(), ['disk.high 2', 'purge.stuck 1'], 'one per machine')
  world.used = 0.88
  world.purgeSeconds = 2
  await check('a')
  world.used = 0.91
  await check('a')
  assert.deepEqual(await notices(), [], 'the alert had not ended')
  world.used = 0.8
  await check('a')
  world.used = 0.91
  world.purgeSeconds = 400
  await check('a')
  assert.deepEqual(await notices(), ['disk.high 1', 'purge.stuck 1'])
  world.tombstoneSeconds = 301
  await check('a')
  await check('b')
  assert.deepEqual(await notices(), ['tombstones.stuck 1'])
  world.used = null
  await check('a')
  assert.deepEqual(await notices(), [])
})
