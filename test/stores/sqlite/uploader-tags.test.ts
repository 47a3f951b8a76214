/** Uploader tags of more uploads than fit in a page. */
import assert from 'node:assert/strict'
import type { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { ledgerOf } from './open-ledger.ts'

const ROWS = 25_000
const AT = Date.parse('2026-07-31T12:00:00Z')
const id = (number: number) => `${number}`.padStart(11, '0')

/** Inserts uploads `n`, each by uploader `n % 5000`. */
function fill(connection: DatabaseSync, atMs: string): void {
  connection.exec(`with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n < ${ROWS - 1})
    insert into links (at_ms, number, id, tag_a, tag_b)
    select ${atMs}, n, printf('%011d', n), 'a' || (n % 5000), 'b' || (n % 5000) from numbers`)
}

for (const [name, atMs] of [
  ['with different times', `${AT} + n`],
  ['with the same time', `${AT}`],
] as const) {
  test(`finds and forgets ${ROWS} tagged uploads ${name}`, async (t) => {
    const { ledger, dayOf } = await ledgerOf(t)
    const { raw } = await dayOf('links', '2026-07-31')
    fill(raw, atMs)
    const others = [20_007, 15_007, 10_007, 7].map(id)
    assert.deepEqual(new Set(await ledger.sameUploader(id(5007), 10)), new Set(others))
    if (name !== 'with the same time')
      assert.deepEqual(await ledger.sameUploader(id(5007), 2), others.slice(0, 2))
    await ledger.forgetTagsBefore(AT, '2026-07-31')
    assert.equal((await ledger.sameUploader(id(5007), 10)).length, others.length)
    await ledger.forgetTagsBefore(AT + ROWS, '2026-07-31')
    assert.deepEqual(await ledger.sameUploader(id(5007), 10), [])
    assert.equal(raw.prepare('select count(*) as count from links').get()?.count, 0)
  })
}
