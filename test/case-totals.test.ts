/** The transparency page, which anybody may request, stays cheap however many cases and months there are. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseConfig } from '../src/config.ts'
import { nodeHashes } from '../src/node/hashes.ts'
import { createReports } from '../src/service/moderation/reports.ts'
import { contextFor } from '../src/web/pages/page.ts'
import { siteFactsOf } from '../src/web/pages/site-facts.ts'
import { transparencyPage } from '../src/web/pages/transparency.ts'
import { storeOf } from './support/ids.ts'
import { ledgerOf } from './support/ledger.ts'

test('case totals are counted once a minute, and again after a failure', async (t) => {
  const ledger = await ledgerOf(t)
  let time = Date.parse('2026-07-31T01:00:00Z')
  let counts = 0
  let fails = false
  const reports = createReports({
    objects: storeOf(() => true),
    ledger: {
      ...ledger,
      async caseTotals() {
        counts++
        if (fails) throw new Error('broken')
        return ledger.caseTotals()
      },
    },
    hashes: nodeHashes,
    now: () => time,
    metrics: { report: () => {} },
  })
  const form = { text: 'What is to be seen in it.', name: '', email: '', signature: '', isInGoodFaith: true }
  const client = { address: '192.0.2.1', network: '192.0.2.0/24' }
  const file = (image: string) => reports.file({ ...form, category: 'malware', image }, client)
  const total = async () => (await reports.totals()).reduce((sum, { count }) => sum + count, 0)

  await file('22222222222')
  assert.deepEqual([await total(), counts], [1, 1])
  await file('33333333333')
  time += 59_000
  assert.deepEqual([await total(), counts], [1, 1])
  time += 1000
  assert.deepEqual(
    [await Promise.all([total(), total()]), counts],
    [[2, 1], 2],
    'the second gets the last totals',
  )
  time += 60_000
  fails = true
  await assert.rejects(total())
  fails = false
  assert.deepEqual([await total(), counts], [2, 4])
  time -= 3_600_000
  assert.deepEqual([await total(), counts], [2, 5], 'a clock set back')
})

test('the months of the page share one date format, which takes longer to create than a month', (t) => {
  const facts = siteFactsOf(parseConfig({}), 'http://localhost', { styles: {}, scripts: {} } as never)
  const months = ['2026-01', '2026-02', '2027-01']
  const totals = months.map((month) => ({ month, category: 'malware', state: 'kept' as const, count: 1 }))
  const formats = t.mock.method(Intl, 'DateTimeFormat')
  const page = `${transparencyPage(contextFor(facts, 'en-GB'), totals)}`
  assert.deepEqual(page.match(/(?<=<h2>)[^<]+/g), ['January 2027', 'February 2026', 'January 2026'])
  assert.equal(formats.mock.callCount(), 1)
})
