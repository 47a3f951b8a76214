/** What nobody does anything about: it is told once, and an urgent report without an answer pauses uploads. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { NO_PURGES, type Purges } from '../src/service/images/purges.ts'
import { createMonitor } from '../src/service/moderation/monitor.ts'
import { createSettings, type SettingValues } from '../src/service/settings.ts'
import type { Ledger } from '../src/stores/ledger.ts'
import type { Report } from '../src/stores/reports.ts'
import { openSqliteLedger } from '../src/stores/sqlite/ledger.ts'
import { folderOf } from './support/folder.ts'
import { storeOf } from './support/ids.ts'

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
  /** Some server of several looks. */
  check(machine?: string): Promise<void>
  report(id: string, severity: number, hours: number, more?: Partial<Report>): Promise<void>
  /** Kinds that are told, with how often. */
  told(): Promise<string[]>
}

async function sceneFor(t: TestContext, defaults: Partial<SettingValues> = {}): Promise<Scene> {
  const ledger = await openSqliteLedger({ file: join(await folderOf(t), 'ledger.sqlite') })
  t.after(() => ledger.close())
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
        keepsWords: true,
        isCrowded: false,
        at: clock.now,
        severity,
        dueAt: clock.now + hours * HOUR_MS,
        raises: null,
        ...more,
      }
      assert.equal(await ledger.fileReport(report, 9), 'filed')
    },
    async told() {
      const claimed = await ledger.claimNotices(clock.now + HOUR_MS, 1)
      for (const notice of claimed) await ledger.settleNotice(notice, clock.now, clock.now)
      return claimed.map(({ kind, count }) => `${kind} ${count}`).sort()
    },
  }
}

test('an urgent report without an answer for an hour pauses uploads, once, and says so', async (t) => {
  const { ledger, clock, check, report, told } = await sceneFor(t)
  await report('AAAAAAAAAAA', 1, 48)
  await check()
  clock.now += 59 * MINUTE_MS
  await check()
  assert.deepEqual(await ledger.settings(), {})
  clock.now += 2 * MINUTE_MS
  await Promise.all([check('a'), check('b'), check('c')])
  assert.deepEqual(await ledger.settings(), { uploads: 'paused' })
  assert.deepEqual(await told(), ['uploads.paused 1'])
  const [act] = await ledger.auditLog(10)
  assert.deepEqual([act?.subject, act?.who], ['uploads=paused', 'pinhole'])
  await ledger.changeSettings({ uploads: null }, 'seen', new Date(clock.now))
  clock.now += HOUR_MS
  await check()
  assert.deepEqual(await ledger.settings(), {}, 'whoever resumes is not paused again for the same report')
  await report('BBBBBBBBBBB', 0, 48)
  await check()
  clock.now += HOUR_MS
  await check()
  assert.deepEqual(await ledger.settings(), { uploads: 'paused' }, 'for another it is')
})

test('what is answered, is not urgent, or was told to nobody pauses nothing', async (t) => {
  const pausesNot = async (
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
  await pausesNot(({ ledger }) => ledger.recordHold('AAAAAAAAAAA', 'seen', new Date(START)))
  await pausesNot(({ ledger }) => ledger.recordDeletion('AAAAAAAAAAA', new Date(START)))
  await pausesNot(async ({ world }) => {
    world.gone.add('AAAAAAAAAAA')
  })
  await pausesNot(async () => {}, 2)
  await pausesNot(async ({ world }) => {
    world.hasReceivers = false
  })
  await pausesNot(async () => {}, 0, { 'unanswered-minutes': 0 })
})

test('a case without an image, or that only crowded networks reported, pauses nothing and wakes nobody', async (t) => {
  const { ledger, clock, world, check, report, told } = await sceneFor(t)
  await report('AAAAAAAAAAA', 0, 1)
  await report('BBBBBBBBBBB', 0, 1, { isCrowded: true })
  await check()
  assert.deepEqual(world.asked, [], 'nothing is told yet, so the store is asked nothing')
  world.gone.add('AAAAAAAAAAA')
  clock.now += 2 * HOUR_MS
  for (let round = 0; round < 3; round++) await check()
  assert.deepEqual(await ledger.settings(), {})
  assert.deepEqual(await told(), [])
  // Each looks twice where what is visible is: it may be released between the two.
  assert.deepEqual(world.asked, Array(4).fill('AAAAAAAAAAA'), 'once for each of two things to be told')
  assert.equal((await ledger.caseOf('AAAAAAAAAAA'))?.isImageGone, true)
  await report('BBBBBBBBBBB', 0, 1, { receiptSha256: 'somebody else' })
  clock.now += 2 * HOUR_MS
  await check()
  clock.now += 2 * HOUR_MS
  await check()
  assert.deepEqual(await ledger.settings(), { uploads: 'paused' }, 'somebody else says so too')
})

test('a flood stays known until its day is over', async (t) => {
  const { ledger, clock, check } = await sceneFor(t)
  const begin = () => ledger.raiseAlert('flood 2026-07-31', new Date(clock.now), { raises: 'a', pause: null })
  assert.equal(await begin(), true)
  await check()
  assert.equal(await begin(), false)
  clock.now += 24 * HOUR_MS
  await check()
  assert.deepEqual(await ledger.activeAlerts(), [])
})

test('a case that is due soon is told once', async (t) => {
  const { clock, check, report, told } = await sceneFor(t)
  await report('AAAAAAAAAAA', 3, 72)
  await report('BBBBBBBBBBB', 4, 8)
  await check()
  assert.deepEqual(await told(), [])
  clock.now += 6 * HOUR_MS + MINUTE_MS
  await Promise.all([check('a'), check('b')])
  assert.deepEqual(await told(), ['case.due 1'])
  clock.now += 60 * HOUR_MS
  await check()
  await check()
  assert.deepEqual(await told(), ['case.due 1'], 'the other one, and neither again')
})

test('the full disk of a machine that is there no more is forgotten, and one that stays full is told again', async (t) => {
  const { clock, ledger, world, check, told } = await sceneFor(t)
  const active = async () => (await ledger.activeAlerts()).map(({ name }) => name)
  world.used = 0.91
  await check('container-1')
  assert.deepEqual(await told(), ['disk.high 1'])
  await check('container-2')
  assert.deepEqual(await active(), ['disk container-1', 'disk container-2'])
  clock.now += 25 * HOUR_MS
  await check('container-2')
  assert.deepEqual(await active(), ['disk container-2'])
  await told()
  await check('container-1')
  assert.deepEqual(await told(), ['disk.high 1'])
})

test('a stuck purge and a full disk are told when they begin, and again when they begin again', async (t) => {
  const { world, check, told } = await sceneFor(t)
  world.purgeSeconds = 301
  world.used = 0.91
  await check('a')
  await check('b')
  assert.deepEqual(await told(), ['disk.high 2', 'purge.stuck 1'], 'each machine has its disk')
  world.used = 0.88
  world.purgeSeconds = 2
  await check('a')
  world.used = 0.91
  await check('a')
  assert.deepEqual(await told(), [], 'it was not over')
  world.used = 0.8
  await check('a')
  world.used = 0.91
  world.purgeSeconds = 400
  await check('a')
  assert.deepEqual(await told(), ['disk.high 1', 'purge.stuck 1'])
  world.tombstoneSeconds = 301
  await check('a')
  await check('b')
  assert.deepEqual(await told(), ['tombstones.stuck 1'])
  world.used = null
  await check('a')
  assert.deepEqual(await told(), [])
})
