import assert from 'node:assert/strict'
import { KEPT_MS } from '../../../src/stores/reports.ts'
import { allOf, type Harness } from './harness.ts'
import { AT, ID, KEPT, report } from './new-report.ts'

export function reportsCases({ on }: Harness): void {
  on('files a report, opens a case, and shows its state on the receipt', async (ledger, { another }) => {
    const first = report()
    assert.equal(await ledger.fileReport(first, KEPT), 'filed')
    const other = await another()
    assert.deepEqual(await other.cases(['open'], 10), [
      {
        id: ID,
        category: 'other',
        severity: 5,
        state: 'open',
        reports: 1,
        isCrowded: false,
        isImageGone: false,
        openedAt: AT,
        dueAt: AT + 1000,
        decidedAt: null,
      },
    ])
    assert.deepEqual(await other.reportsOf(ID, 10), [
      { category: 'other', text: first.text, contact: first.contact, at: AT },
    ])
    const receipt = { category: 'other', at: AT, isShared: false, state: 'open', decidedAt: null }
    assert.deepEqual(await other.receipt(first.receiptSha256), receipt)
    assert.equal(await other.receipt('unknown'), null)
    await ledger.recordRemoval('bbbbbbbbbbb', 'nobody reported it', new Date(AT))
    assert.equal(await other.caseOf('bbbbbbbbbbb'), null)
    await ledger.recordRemoval(ID, 'against the terms', new Date(AT + 5))
    assert.deepEqual(await other.receipt(first.receiptSha256), {
      ...receipt,
      state: 'removed',
      decidedAt: AT + 5,
    })
    assert.deepEqual(await other.cases(['open', 'held'], 10), [])
  })

  on('goes through every case, whatever its state', async (ledger) => {
    const ids = Array.from({ length: 1001 }, (_, nth) => `${nth}`.padStart(11, '0'))
    // Not all at once: a call that waits for a connection for seconds is given up.
    for (let at = 0; at < ids.length; at += 50) {
      await Promise.all(ids.slice(at, at + 50).map((id) => ledger.fileReport(report({ id }), KEPT)))
    }
    await ledger.recordRemoval(ids[7]!, 'against the terms', new Date(AT + 5))
    const cases = await allOf(ledger.everyCase())
    assert.deepEqual(
      cases.map(({ id }) => id),
      ids,
    )
    assert.deepEqual(cases[7], await ledger.caseOf(ids[7]!))
    assert.deepEqual(
      cases.filter(({ state }) => state !== 'open').map(({ id, state }) => [id, state]),
      [[ids[7], 'removed']],
    )
  })

  on('shows each decision on the receipt; a removal is the last', async (ledger, { another }) => {
    const filed = report()
    await ledger.fileReport(filed, KEPT)
    const other = await another()
    const steps = [
      ['recordHold', 'held'],
      ['recordRelease', 'open'],
      ['recordKeep', 'kept'],
      ['recordHold', 'held'],
      ['recordRemoval', 'removed'],
      ['recordKeep', 'removed'],
      ['recordRelease', 'removed'],
    ] as const
    let decidedAt: number | null = null
    for (const [nth, [act, state]] of steps.entries()) {
      await ledger[act](ID, 'why', new Date(AT + nth))
      if (nth < 5) decidedAt = state === 'open' ? null : AT + nth
      const receipt = await other.receipt(filed.receiptSha256)
      assert.deepEqual([receipt?.state, receipt?.decidedAt], [state, decidedAt], `${nth}: ${act}`)
      assert.deepEqual(await other.caseOf(ID), (await other.cases([state], 1))[0])
    }
    assert.equal((await other.auditLog(10)).length, 5, 'after a removal there is no act')
  })

  on(
    'takes a report once, also from many processes, and any number of others',
    async (ledger, { another }) => {
      const first = report()
      const other = await another()
      const same = await Promise.all(
        [ledger, other, ledger, other].map((each) => each.fileReport(first, KEPT)),
      )
      assert.deepEqual(same.sort(), ['filed', 'repeated', 'repeated', 'repeated'])
      assert.equal(await ledger.fileReport({ ...first, text: 'And again.' }, KEPT), 'repeated')
      assert.equal(await ledger.fileReport(report(), KEPT), 'filed')
      assert.equal(await ledger.fileReport(report({ id: 'bbbbbbbbbbb' }), KEPT), 'filed')
      const counts = (await ledger.cases(['open'], 10)).map(({ id, reports }) => [id, reports])
      assert.deepEqual(counts, [
        [ID, 2],
        ['bbbbbbbbbbb', 1],
      ])
    },
  )

  on('puts the most severe first, then what is due; the most severe report names a case', async (ledger) => {
    await ledger.fileReport(report({ id: 'late0000000', dueAt: AT + 9 }), KEPT)
    await ledger.fileReport(report({ id: 'soon0000000', dueAt: AT + 1 }), KEPT)
    await ledger.fileReport(report({ id: 'grew0000000', dueAt: AT + 7 }), KEPT)
    const grave = { id: 'grew0000000', category: 'intimate', severity: 1, dueAt: AT + 8 }
    await ledger.fileReport(report(grave), KEPT)
    await ledger.fileReport(report({ id: 'grew0000000' }), KEPT)
    const cases = await ledger.cases(['open'], 10)
    assert.deepEqual(
      cases.map(({ id, category, dueAt, reports }) => [id, category, dueAt - AT, reports]),
      [
        ['grew0000000', 'intimate', 7, 3],
        ['soon0000000', 'other', 1, 1],
        ['late0000000', 'other', 9, 1],
      ],
    )
    assert.equal((await ledger.cases(['open'], 1)).length, 1)
  })

  on('only counts reports of what was kept, and opens the case again after a while', async (ledger) => {
    await ledger.fileReport(report(), KEPT)
    await ledger.recordKeep(ID, 'harmless', new Date(AT))
    await ledger.fileReport(report({ at: AT + KEPT_MS }), KEPT)
    assert.equal((await ledger.cases(['kept'], 1))[0]?.reports, 2)
    await ledger.fileReport(report({ at: AT + KEPT_MS + 1 }), KEPT)
    assert.equal((await ledger.cases(['open'], 1))[0]?.reports, 3)
  })

  on('forgets who reported, and why, when a decision is old; the totals stay', async (ledger) => {
    await ledger.fileReport(report(), KEPT)
    await ledger.fileReport(report({ id: 'open0000000' }), KEPT)
    await ledger.fileReport(report({ id: 'copy0000000', category: 'copyright' }), KEPT)
    await ledger.recordKeep(ID, 'harmless', new Date(AT))
    await ledger.recordRemoval('copy0000000', 'a copy', new Date(AT))
    await ledger.forgetReporters(['other'], new Date(AT))
    assert.notEqual((await ledger.reportsOf(ID, 1))[0]?.contact, '')
    await ledger.forgetReporters(['other'], new Date(AT + 1))
    const left = async (id: string) => (await ledger.reportsOf(id, 1))[0]
    assert.deepEqual(await left(ID), { category: 'other', text: '', contact: '', at: AT })
    assert.notEqual((await left('open0000000'))?.contact, '')
    assert.notEqual((await left('copy0000000'))?.contact, '')
    assert.deepEqual(await ledger.caseTotals(), [
      { month: '2030-01', category: 'copyright', state: 'removed', count: 1 },
      { month: '2030-01', category: 'other', state: 'kept', count: 1 },
      { month: '2030-01', category: 'other', state: 'open', count: 1 },
    ])
  })
}
