/** Ordinary reports are combined into one notice an hour; urgent ones are sent immediately. */
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
  /** `asked`: how often it was read. */
  clock: { now: number; asked: number }
  counted: string[]
  sent: Notice[]
  file(category: ReportCategory, image: string): Promise<string>
  pending(): Promise<number | null>
}

async function sceneOf(t: TestContext): Promise<Scene> {
  t.after(() => notices.stop())
  const ledger = await ledgerOf(t)
  const clock = { now: Date.parse('2026-07-31T01:00:00Z'), asked: 0 }
  const now = () => {
    clock.asked++
    return clock.now
  }
  const counted: string[] = []
  const sent: Notice[] = []
  const reports: Reports = createReports({
    objects: storeOf(() => true),
    ledger,
    hashes: nodeHashes,
    now,
    metrics: { report: (category) => void counted.push(category) },
  })
  const notices = createNotices({
    ledger,
    notifiers: [{ name: 'test', deliver: async (notice) => void sent.push(notice) }],
    link: null,
    now,
    onFailure: (error) => assert.fail(error as Error),
    intervalMs: 5,
  })
  notices.start()
  const form = {
    text: 'What is to be seen in the picture.',
    name: 'Ada',
    email: 'ada@reporter.example',
    signature: 'Ada',
    isInGoodFaith: true,
  }
  return {
    clock,
    counted,
    sent,
    pending: notices.pending,
    file(category, image) {
      const client = { address: `192.0.2.${counted.length}`, network: '192.0.2.0/24' }
      return reports.file({ ...form, category, image }, client)
    },
  }
}

test('ordinary reports are combined into one notice an hour, with their number but not their content', async (t) => {
  const { clock, counted, sent, file, pending } = await sceneOf(t)
  await file(ORDINARY[0]!, '22222222222')
  await until('the first is sent immediately', async () => sent.length === 1)
  const { kind, title, text, isUrgent } = sent[0]!
  assert.deepEqual([kind, title, isUrgent], ['case.new', 'Pinhole: 1 new report', false])
  assert.doesNotMatch(`${title} ${text}`, /Ada|seen|2222|192\.0/)
  await until('it is settled', async () => (await pending()) === 0)

  for (const [index, category] of ORDINARY.entries()) await file(category, `3333333333${index}`)
  clock.now += HOUR_MS - 1
  const asked = clock.asked
  await until('the job has run', () => clock.asked > asked + 2)
  assert.equal(sent.length, 1, 'no second one within the hour')
  clock.now += 1
  await until('the others are sent together', async () => sent.length === 2)
  assert.deepEqual([sent[1]!.kind, sent[1]!.title], ['case.new', `Pinhole: ${ORDINARY.length} new reports`])
  assert.notEqual(sent[1]!.id, sent[0]!.id, 'receivers can distinguish them')
  assert.deepEqual(counted, [ORDINARY[0], ...ORDINARY])
})

test('an urgent report is sent immediately, without repeating earlier reports', async (t) => {
  const { counted, sent, file, pending } = await sceneOf(t)
  await file('other', '22222222222')
  await until('it is settled', async () => (await pending()) === 0)
  for (const category of CATEGORY_NAMES.filter((name) => CATEGORIES[name].severity <= URGENT)) {
    await file(category, '33333333333')
  }
  await until('it is sent', async () => sent.some(({ kind }) => kind === 'case.urgent'))
  assert.deepEqual(new Set(sent.map(({ kind }) => kind)), new Set(['case.new', 'case.urgent']))
  assert.ok(sent.find(({ kind }) => kind === 'case.urgent')!.isUrgent)
  assert.equal(counted.length, sent.filter(({ kind }) => kind === 'case.new').length + 2)
})
