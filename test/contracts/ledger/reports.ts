import assert from 'node:assert/strict'
import { KEPT_MS } from '../../../src/stores/reports.ts'
import type { Harness } from './harness.ts'
import { AT, file, ID, MAX_KEPT, report } from './new-report.ts'

export function reportsCases({ on }: Harness): void {
  on('files a report, opens a case and shows its state on the receipt', async (ledger, { another }) => {
    const first = report()
    assert.equal(await ledger.fileReport(first, MAX_KEPT), 'filed')
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

  on('iterates over every case in any state', async (ledger) => {
    const ids = Array.from({ length: 1001 }, (_, index) => `${index}`.padStart(11, '0'))
    // In batches: a call that waits seconds for a connection times out.
    for (let start = 0; start < ids.length; start += 50) {
      await Promise.all(ids.slice(start, start + 50).map((id) => file(ledger, { id })))
    }
    await ledger.recordRemoval(ids[7]!, 'against the terms', new Date(AT + 5))
    const cases = await Array.fromAsync(ledger.everyCase())
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

  on('shows each decision on the receipt; a removal is final', async (ledger, { another }) => {
    const filed = report()
    await ledger.fileReport(filed, MAX_KEPT)
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
    for (const [index, [act, state]] of steps.entries()) {
      await ledger[act](ID, 'why', new Date(AT + index))
      if (index < 5) decidedAt = state === 'open' ? null : AT + index
      const receipt = await other.receipt(filed.receiptSha256)
      assert.deepEqual([receipt?.state, receipt?.decidedAt], [state, decidedAt], `${index}: ${act}`)
      assert.deepEqual(await other.caseOf(ID), (await other.cases([state], 1))[0])
    }
    assert.equal((await other.auditLog(10)).length, 5, 'no act is recorded after a removal')
  })

  on(
    'files a report once, even when repeated concurrently, and accepts any number of others',
    async (ledger, { another }) => {
      const first = report()
      const other = await another()
      const same = await Promise.all(
        [ledger, other, ledger, other].map((each) => each.fileReport(first, MAX_KEPT)),
      )
      assert.deepEqual(same.sort(), ['filed', 'repeated', 'repeated', 'repeated'])
      assert.equal(await ledger.fileReport({ ...first, text: 'And again.' }, MAX_KEPT), 'repeated')
      assert.equal(await file(ledger), 'filed')
      assert.equal(await file(ledger, { id: 'bbbbbbbbbbb' }), 'filed')
      const counts = (await ledger.cases(['open'], 10)).map(({ id, reports }) => [id, reports])
      assert.deepEqual(counts, [
        [ID, 2],
        ['bbbbbbbbbbb', 1],
      ])
    },
  )

  on(
    'lists cases by severity, then deadline; the most severe report determines the category',
    async (ledger) => {
      await file(ledger, { id: 'late0000000', dueAt: AT + 9 })
      await file(ledger, { id: 'soon0000000', dueAt: AT + 1 })
      await file(ledger, { id: 'grew0000000', dueAt: AT + 7 })
      const severe = { id: 'grew0000000', category: 'intimate', severity: 1, dueAt: AT + 8 }
      await file(ledger, severe)
      await file(ledger, { id: 'grew0000000' })
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
    },
  )

  on('only counts reports of a kept image, and reopens the case after a while', async (ledger) => {
    await file(ledger)
    await ledger.recordKeep(ID, 'harmless', new Date(AT))
    await file(ledger, { at: AT + KEPT_MS })
    assert.equal((await ledger.cases(['kept'], 1))[0]?.reports, 2)
    await file(ledger, { at: AT + KEPT_MS + 1 })
    assert.equal((await ledger.cases(['open'], 1))[0]?.reports, 3)
  })

  on('erases contacts and texts of old decisions, and keeps the totals', async (ledger) => {
    await file(ledger)
    await file(ledger, { id: 'open0000000' })
    await file(ledger, { id: 'copy0000000', category: 'copyright' })
    await file(ledger, { id: 'gone0000000' })
    await ledger.recordImageGone('gone0000000', new Date(AT))
    await ledger.recordKeep(ID, 'harmless', new Date(AT))
    await ledger.recordRemoval('copy0000000', 'a copy', new Date(AT))
    await ledger.forgetReporters(['other'], new Date(AT))
    assert.notEqual((await ledger.reportsOf(ID, 1))[0]?.contact, '')
    await ledger.forgetReporters(['other'], new Date(AT + 1))
    const reportOf = async (id: string) => (await ledger.reportsOf(id, 1))[0]
    assert.deepEqual(await reportOf(ID), { category: 'other', text: '', contact: '', at: AT })
    assert.equal((await reportOf('gone0000000'))?.contact, '')
    assert.notEqual((await reportOf('open0000000'))?.contact, '')
    assert.notEqual((await reportOf('copy0000000'))?.contact, '')
    assert.deepEqual(await ledger.caseTotals(), [
      { month: '2030-01', category: 'copyright', state: 'removed', count: 1 },
      { month: '2030-01', category: 'other', state: 'kept', count: 1 },
      { month: '2030-01', category: 'other', state: 'open', count: 2 },
    ])
  })
}
