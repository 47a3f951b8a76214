/** Report budgets, and what large numbers of reports leave in the ledger. */
import assert from 'node:assert/strict'
import type { Ledger } from '../../../src/stores/ledger.ts'
import type { Harness } from './harness.ts'
import { AT, DAY, file, ID, report } from './new-report.ts'

export function floodsCases({ on }: Harness): void {
  on(
    'spends budgets in order up to the first exhausted one, with 30 concurrent calls',
    async (ledger, { concurrently }) => {
      const spend = (handle: Ledger, address: string, network = 'network') =>
        handle.spendReportBudgets(DAY, [
          { bucket: address, limit: 10 },
          { bucket: network, limit: 15 },
          { bucket: 'all', limit: 20 },
        ])
      const many = (address: string, network?: string) =>
        concurrently(30, (handle) => spend(handle, address, network))
      const count = (results: number[]) =>
        [0, 1, 2, 3].map((spent) => results.filter((result) => result === spent).length)
      assert.deepEqual(count(await many('a')), [20, 0, 0, 10])
      assert.deepEqual(count(await many('a')), [30, 0, 0, 0], 'a refused report costs no other budget')
      assert.deepEqual(count(await many('b')), [20, 5, 0, 5])
      assert.deepEqual(
        count(await many('c', 'other network')),
        [20, 0, 5, 5],
        'a crowded network does not affect others',
      )
      await ledger.eraseDaysBefore('2030-01-16')
      assert.equal(await spend(ledger, 'a'), 3)
      assert.equal(await ledger.spendReportBudgets('2030-01-16', [{ bucket: 'a', limit: 0 }]), 0)
    },
  )

  on(
    'keeps the text of a limited number of reports per category, and counts the others',
    async (ledger, { another }) => {
      const many = Array.from({ length: 40 }, (_, index) =>
        report({ category: index % 2 ? 'other' : 'malware' }),
      )
      const outcomes: string[] = []
      for (const each of many) outcomes.push(await ledger.fileReport(each, 3))
      assert.equal(outcomes.filter((outcome) => outcome === 'filed').length, 6)
      assert.equal(outcomes.filter((outcome) => outcome === 'counted').length, 34)
      const other = await another()
      assert.equal((await other.caseOf(ID))?.reports, 40)
      assert.equal((await other.reportsOf(ID, 100)).length, 6)
      assert.equal(await other.fileReport(report({ category: 'violence', keepsText: false }), 3), 'counted')
      for (const category of ['other', 'malware', 'violence']) {
        const shown = await other.receipt(`shared ${ID} ${category}`)
        assert.deepEqual([shown?.category, shown?.state, shown?.isShared], [category, 'open', true])
      }
      await ledger.recordRemoval(ID, 'as reported', new Date(AT + 1))
      await ledger.forgetReporters(['other', 'malware', 'violence'], new Date(AT + 2))
      assert.equal((await ledger.receipt(`shared ${ID} other`))?.state, 'removed')
      assert.equal(await ledger.fileReport(report(), 3), 'counted')
    },
  )

  on(
    'lists cases reported only by crowded networks last, until another network reports them',
    async (ledger) => {
      const crowded = { isCrowded: true, keepsText: false, raises: 'a' }
      await file(ledger, { ...crowded, id: 'crowd000000', severity: 0, category: 'child-abuse' })
      await file(ledger, { id: 'calm0000000' })
      const listed = async () =>
        (await ledger.cases(['open'], 10)).map(({ id, severity, isCrowded }) => [id, severity, isCrowded])
      assert.deepEqual(await listed(), [
        ['calm0000000', 5, false],
        ['crowd000000', 0, true],
      ])
      await file(ledger, { ...crowded, id: 'calm0000000', severity: 0, category: 'child-abuse' })
      assert.deepEqual(
        (await listed())[0],
        ['calm0000000', 5, false],
        'a crowded network does not raise the severity',
      )
      assert.deepEqual(await ledger.pendingNotices(AT), { count: 0, oldest: null })
      await file(ledger, { id: 'crowd000000', severity: 1, category: 'intimate', raises: 'a' })
      assert.deepEqual(await listed(), [
        ['crowd000000', 1, false],
        ['calm0000000', 5, false],
      ])
      assert.equal((await ledger.claimNotices(AT, 1))[0]?.count, 1)
    },
  )

  on('lists cases of deleted images last, until the image is reported again', async (ledger) => {
    await file(ledger, { severity: 0 })
    await file(ledger, { id: 'bbbbbbbbbbb', severity: 0 })
    await file(ledger, { id: 'ccccccccccc' })
    await ledger.recordDeletion(ID, new Date(AT))
    await ledger.recordImageGone('bbbbbbbbbbb', new Date(AT))
    await ledger.recordImageGone('nothing0000', new Date(AT))
    const gone = async () =>
      (await ledger.cases(['open'], 10)).map(({ id, isImageGone }) => [id, isImageGone])
    assert.deepEqual(await gone(), [
      ['ccccccccccc', false],
      [ID, true],
      ['bbbbbbbbbbb', true],
    ])
    await file(ledger, { severity: 5 })
    assert.deepEqual((await gone())[0], [ID, false])
  })

  on('opens no case for an image that the operator already decided', async (ledger) => {
    await ledger.recordRemoval(ID, 'against the terms', new Date(AT))
    await ledger.recordHold('bbbbbbbbbbb', 'to look at it', new Date(AT))
    for (const id of [ID, 'bbbbbbbbbbb']) await file(ledger, { id, raises: 'a' })
    assert.deepEqual(await ledger.cases(['open'], 10), [])
    assert.equal((await ledger.caseOf(ID))?.state, 'removed')
    assert.equal((await ledger.caseOf('bbbbbbbbbbb'))?.state, 'held')
    assert.deepEqual(await ledger.pendingNotices(AT), { count: 0, oldest: null })
  })
}
