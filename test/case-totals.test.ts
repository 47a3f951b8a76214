/** The totals of the transparency page, which anybody may request, are not counted for each request. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nodeHashes } from '../src/node/hashes.ts'
import { createReports } from '../src/service/moderation/reports.ts'
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
