/** Reports that can wait are told together, once an hour; urgent ones at once. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { nodeHashes } from '../../src/node/hashes.ts'
import type { Notice } from '../../src/notify/notifier.ts'
import { createNotices } from '../../src/service/moderation/notices.ts'
import { CATEGORIES, type ReportCategory } from '../../src/service/moderation/report-categories.ts'
import { createReports, type Reports, URGENT } from '../../src/service/moderation/reports.ts'
import { storeOf } from '../support/ids.ts'
import { ledgerOf } from '../support/ledger.ts'
import { until } from '../support/until.ts'

const HOUR_MS = 3_600_000
const CATEGORY_NAMES = Object.keys(CATEGORIES) as ReportCategory[]
const ORDINARY = CATEGORY_NAMES.filter((name) => CATEGORIES[name].severity > URGENT)

interface Scene {
  clock: { now: number }
  counted: string[]
  told: Notice[]
  file(category: ReportCategory, image: string): Promise<string>
  pending(): Promise<number | null>
}

async function sceneOf(t: TestContext): Promise<Scene> {
  t.after(() => notices.stop())
  const ledger = await ledgerOf(t)
  const clock = { now: Date.parse('2026-07-31T01:00:00Z') }
  const now = () => clock.now
  const counted: string[] = []
  const told: Notice[] = []
  const reports: Reports = createReports({
    objects: storeOf(() => true),
    ledger,
    hashes: nodeHashes,
    now,
    metrics: { report: (category) => void counted.push(category) },
  })
  const notices = createNotices({
    ledger,
    notifiers: [{ name: 'test', deliver: async (notice) => void told.push(notice) }],
    link: null,
    now,
    onFailure: (error) => assert.fail(error as Error),
    intervalMs: 5,
  })
  notices.start()
  const given = {
    text: 'What is to be seen in the picture.',
    name: 'Ada',
    email: 'ada@reporter.example',
    signature: 'Ada',
    isInGoodFaith: true,
  }
  return {
    clock,
    counted,
    told,
    pending: notices.pending,
    file(category, image) {
      const client = { address: `192.0.2.${counted.length}`, network: '192.0.2.0/24' }
      return reports.file({ ...given, category, image }, client)
    },
  }
}

test('reports that can wait are one notice an hour, with their number and nothing of what they say', async (t) => {
  const { clock, counted, told, file, pending } = await sceneOf(t)
  await file(ORDINARY[0]!, '22222222222')
  await until('the first is told at once', async () => told.length === 1)
  const { kind, title, text, isUrgent } = told[0]!
  assert.deepEqual([kind, title, isUrgent], ['case.new', 'Pinhole: 1 new report', false])
  assert.doesNotMatch(`${title} ${text}`, /Ada|seen|2222|192\.0/)
  await until('it is settled', async () => (await pending()) === 0)

  for (const [nth, category] of ORDINARY.entries()) await file(category, `3333333333${nth}`)
  clock.now += HOUR_MS - 1
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert.equal(told.length, 1, 'no second one within the hour')
  clock.now += 1
  await until('the others are told together', async () => told.length === 2)
  assert.deepEqual([told[1]!.kind, told[1]!.title], ['case.new', `Pinhole: ${ORDINARY.length} new reports`])
  assert.notEqual(told[1]!.id, told[0]!.id, 'a receiver takes it for another one')
  assert.deepEqual(counted, [ORDINARY[0], ...ORDINARY])
})

test('an urgent report waits for no hour, and what was reported before is not told again', async (t) => {
  const { counted, told, file, pending } = await sceneOf(t)
  await file('other', '22222222222')
  await until('it is settled', async () => (await pending()) === 0)
  for (const category of CATEGORY_NAMES.filter((name) => CATEGORIES[name].severity <= URGENT)) {
    await file(category, '33333333333')
  }
  await until('it is told', async () => told.some(({ kind }) => kind === 'case.urgent'))
  assert.deepEqual(new Set(told.map(({ kind }) => kind)), new Set(['case.new', 'case.urgent']))
  assert.ok(told.find(({ kind }) => kind === 'case.urgent')!.isUrgent)
  assert.equal(counted.length, told.filter(({ kind }) => kind === 'case.new').length + 2)
})
