/** Budgets of reports, and what many reports leave in the ledger. */
import assert from 'node:assert/strict'
import type { Harness } from './harness.ts'
import { AT, DAY, ID, KEPT, report } from './new-report.ts'

export function floodsCases({ on }: Harness): void {
  on(
    'spends budgets in turn up to the first that is used up, with 60 at once',
    async (ledger, { another }) => {
      const other = await another()
      const spend = (nth: number, address: string, network = 'network') =>
        (nth % 2 ? ledger : other).spendReportBudgets(DAY, [
          { bucket: address, limit: 10 },
          { bucket: network, limit: 15 },
          { bucket: 'all', limit: 20 },
        ])
      const many = (address: string, network?: string) =>
        Promise.all(Array.from({ length: 30 }, (_, nth) => spend(nth, address, network)))
      const count = (rooms: number[]) =>
        [0, 1, 2, 3].map((room) => rooms.filter((each) => each === room).length)
      assert.deepEqual(count(await many('a')), [20, 0, 0, 10])
      assert.deepEqual(count(await many('a')), [30, 0, 0, 0], 'what is refused costs no other budget')
      assert.deepEqual(count(await many('b')), [20, 5, 0, 5])
      assert.deepEqual(
        count(await many('c', 'other network')),
        [20, 0, 5, 5],
        'a crowded network costs nobody else',
      )
      await ledger.forgetDaysBefore('2030-01-16')
      assert.equal(await spend(0, 'a'), 3)
      assert.equal(await ledger.spendReportBudgets('2030-01-16', [{ bucket: 'a', limit: 0 }]), 0)
    },
  )

  on('keeps the words of some reports of a category, and counts the others', async (ledger, { another }) => {
    const many = Array.from({ length: 40 }, (_, nth) => report({ category: nth % 2 ? 'other' : 'malware' }))
    const outcomes: string[] = []
    for (const each of many) outcomes.push(await ledger.fileReport(each, 3))
    assert.equal(outcomes.filter((outcome) => outcome === 'filed').length, 6)
    assert.equal(outcomes.filter((outcome) => outcome === 'counted').length, 34)
    const other = await another()
    assert.equal((await other.caseOf(ID))?.reports, 40)
    assert.equal((await other.reportsOf(ID, 100)).length, 6)
    assert.equal(await other.fileReport(report({ category: 'violence', keepsWords: false }), 3), 'counted')
    for (const category of ['other', 'malware', 'violence']) {
      const shown = await other.receipt(`shared ${ID} ${category}`)
      assert.deepEqual([shown?.category, shown?.state, shown?.isShared], [category, 'open', true])
    }
    await ledger.recordRemoval(ID, 'as reported', new Date(AT + 1))
    await ledger.forgetReporters(['other', 'malware', 'violence'], new Date(AT + 2))
    assert.equal((await ledger.receipt(`shared ${ID} other`))?.state, 'removed')
    assert.equal(await ledger.fileReport(report(), 3), 'counted')
  })

  on('puts what only crowded networks report behind all others, until somebody else does', async (ledger) => {
    const crowded = { isCrowded: true, keepsWords: false, raises: 'a' }
    await ledger.fileReport(
      report({ ...crowded, id: 'crowd000000', severity: 0, category: 'child-abuse' }),
      KEPT,
    )
    await ledger.fileReport(report({ id: 'calm0000000' }), KEPT)
    const listed = async () =>
      (await ledger.cases(['open'], 10)).map(({ id, severity, isCrowded }) => [id, severity, isCrowded])
    assert.deepEqual(await listed(), [
      ['calm0000000', 5, false],
      ['crowd000000', 0, true],
    ])
    await ledger.fileReport(
      report({ ...crowded, id: 'calm0000000', severity: 0, category: 'child-abuse' }),
      KEPT,
    )
    assert.deepEqual((await listed())[0], ['calm0000000', 5, false], 'a crowd makes no case more severe')
    assert.deepEqual(await ledger.pendingNotices(), { count: 0, oldest: null })
    await ledger.fileReport(
      report({ id: 'crowd000000', severity: 1, category: 'intimate', raises: 'a' }),
      KEPT,
    )
    assert.deepEqual(await listed(), [
      ['crowd000000', 1, false],
      ['calm0000000', 5, false],
    ])
    assert.equal((await ledger.claimNotices(AT, 1))[0]?.count, 1)
  })

  on('puts a case whose image is gone last, until the image is reported again', async (ledger) => {
    await ledger.fileReport(report({ severity: 0 }), KEPT)
    await ledger.fileReport(report({ id: 'bbbbbbbbbbb', severity: 0 }), KEPT)
    await ledger.fileReport(report({ id: 'ccccccccccc' }), KEPT)
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
    await ledger.fileReport(report({ severity: 5 }), KEPT)
    assert.deepEqual((await gone())[0], [ID, false])
  })

  on('opens no case of what the operator decided already', async (ledger) => {
    await ledger.recordRemoval(ID, 'against the terms', new Date(AT))
    await ledger.recordHold('bbbbbbbbbbb', 'to look at it', new Date(AT))
    for (const id of [ID, 'bbbbbbbbbbb']) await ledger.fileReport(report({ id, raises: 'a' }), KEPT)
    assert.deepEqual(await ledger.cases(['open'], 10), [])
    assert.equal((await ledger.caseOf(ID))?.state, 'removed')
    assert.equal((await ledger.caseOf('bbbbbbbbbbb'))?.state, 'held')
    assert.deepEqual(await ledger.pendingNotices(), { count: 0, oldest: null })
  })
}
