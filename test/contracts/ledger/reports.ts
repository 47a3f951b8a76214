import assert from 'node:assert/strict'
import { KEPT_MS, type Report } from '../../../src/stores/reports.ts'
import { allOf, type Harness } from './harness.ts'

const AT = Date.UTC(2030, 0, 15, 12)
const CAPS = { ofReporter: 10, ofAll: 500 }
const ID = 'aaaaaaaaaaa'
let receipts = 0

const report = (more: Partial<Report> = {}): Report => ({
  id: ID,
  category: 'other',
  text: 'It shows my garden.',
  contact: 'A. <a@b.example>',
  reporter: 'reporter-1',
  day: '2030-01-15',
  receiptSha256: `receipt-${++receipts}`,
  at: AT,
  severity: 5,
  dueAt: AT + 1000,
  raises: null,
  ...more,
})

export function reportsCases({ on }: Harness): void {
  on('files a report, opens a case, and shows its state on the receipt', async (ledger, { another }) => {
    const first = report()
    assert.equal(await ledger.fileReport(first, CAPS), 'filed')
    const other = await another()
    assert.deepEqual(await other.cases(['open'], 10), [
      {
        id: ID,
        category: 'other',
        severity: 5,
        state: 'open',
        reports: 1,
        openedAt: AT,
        dueAt: AT + 1000,
        decidedAt: null,
      },
    ])
    assert.deepEqual(await other.reportsOf(ID, 10), [
      { category: 'other', text: first.text, contact: first.contact, at: AT },
    ])
    const receipt = { category: 'other', at: AT, state: 'open', decidedAt: null }
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
    const caps = { ofReporter: 2000, ofAll: 2000 }
    await Promise.all(ids.map((id) => ledger.fileReport(report({ id }), caps)))
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
    await ledger.fileReport(filed, CAPS)
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
    assert.equal((await other.acts(10)).length, steps.length)
  })

  on('takes one report of an image and reporter, and any number of others', async (ledger) => {
    const first = report()
    await ledger.fileReport(first, CAPS)
    assert.equal(await ledger.fileReport({ ...first, text: 'And again.' }, CAPS), 'repeated')
    assert.equal(await ledger.fileReport(report({ reporter: 'reporter-2' }), CAPS), 'filed')
    assert.equal(await ledger.fileReport(report({ id: 'bbbbbbbbbbb' }), CAPS), 'filed')
    const counts = (await ledger.cases(['open'], 10)).map(({ id, reports }) => [id, reports])
    assert.deepEqual(counts, [
      [ID, 2],
      ['bbbbbbbbbbb', 1],
    ])
  })

  on('keeps to the caps of a reporter and of all, with 60 at once', async (ledger, { another }) => {
    const other = await another()
    const flood = (reporter: (nth: number) => string, ofAll: number) =>
      Promise.all(
        Array.from({ length: 60 }, (_, nth) =>
          (nth % 2 ? ledger : other).fileReport(
            report({ id: `id${nth}`.padEnd(11, 'x'), reporter: reporter(nth) }),
            { ofReporter: 10, ofAll },
          ),
        ),
      )
    const filed = (outcomes: string[]) => outcomes.filter((outcome) => outcome === 'filed').length
    // A row that is being written is not counted yet: where many write at once a few may pass.
    const ofOne = filed(await flood(() => 'reporter-1', 500))
    assert.ok(ofOne >= 10 && ofOne <= 30, `${ofOne}`)
    const ofAll = filed(await flood((nth) => `other-${nth}`, ofOne + 5))
    assert.ok(ofAll >= 5 && ofAll <= 25, `${ofAll}`)
    assert.equal(await ledger.fileReport(report({ id: 'zzzzzzzzzzz' }), CAPS), 'over')
    assert.equal(await ledger.receipt('receipt-none'), null)
  })

  on('puts the most severe first, then what is due; the most severe report names a case', async (ledger) => {
    await ledger.fileReport(report({ id: 'late0000000', dueAt: AT + 9 }), CAPS)
    await ledger.fileReport(report({ id: 'soon0000000', dueAt: AT + 1 }), CAPS)
    await ledger.fileReport(report({ id: 'grew0000000', dueAt: AT + 7 }), CAPS)
    const grave = { id: 'grew0000000', category: 'intimate', severity: 1, dueAt: AT + 8, reporter: 'b' }
    await ledger.fileReport(report(grave), CAPS)
    await ledger.fileReport(report({ id: 'grew0000000', reporter: 'c' }), CAPS)
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
    await ledger.fileReport(report(), CAPS)
    await ledger.recordKeep(ID, 'harmless', new Date(AT))
    await ledger.fileReport(report({ reporter: 'b', at: AT + KEPT_MS }), CAPS)
    assert.equal((await ledger.cases(['kept'], 1))[0]?.reports, 2)
    await ledger.fileReport(report({ reporter: 'c', at: AT + KEPT_MS + 1 }), CAPS)
    assert.equal((await ledger.cases(['open'], 1))[0]?.reports, 3)
  })

  on('forgets who reported, and why, when a decision is old; the totals stay', async (ledger) => {
    await ledger.fileReport(report(), CAPS)
    await ledger.fileReport(report({ id: 'open0000000' }), CAPS)
    await ledger.fileReport(report({ id: 'copy0000000', category: 'copyright' }), CAPS)
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
