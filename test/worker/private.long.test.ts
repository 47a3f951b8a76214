/** Data derived from client addresses on Workers: kept out of D1's history as SECURITY.md promises, and deleted after its day. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { openD1Ledger } from '../../src/stores/d1/ledger.ts'
import { r2Salts } from '../../src/stores/r2/salts.ts'
import { openR2Store } from '../../src/stores/r2/store.ts'
import { gif } from '../support/images/tiny-images.ts'
import { startBindings } from '../support/worker/bindings.ts'
import { migrate } from '../support/worker/d1-under-test.ts'
import { startHostHere } from '../support/worker/host-here.ts'
import { rowsOf, saltsOf } from '../support/worker/stored-data.ts'

const NOON = Date.parse('2026-07-01T12:00:00Z')
const DAY_MS = 86_400_000

const json = { 'Content-Type': 'application/json' }

it('keeps salts and links out of D1, and deletes private data after its day', async (t) => {
  const bindings = await startBindings()
  t.after(() => bindings.close())
  await migrate(bindings.database)
  t.mock.timers.enable({ apis: ['Date'], now: NOON })
  const { ask, upload, trigger } = await startHostHere(t, {
    variables: { CHALLENGE: 'on', NETWORK_UPLOADS: '1000' },
    stores: {
      objects: openR2Store({ bucket: bindings.bucket }),
      ledger: openD1Ledger({ database: bindings.database, salts: r2Salts(bindings.salts) }),
    },
  })
  const stored = await upload(gif())
  assert.equal(stored.status, 201)
  const { id } = (await stored.json()) as { id: string }
  const report = { image: id, category: 'other', text: 'This is a picture of my garden.', goodFaith: true }
  const reported = await ask('POST', '/api/report', { headers: json, body: JSON.stringify(report) })
  assert.equal(reported.status, 202)
  assert.equal((await ask('GET', '/api/challenge?for=pass')).status, 200)

  const salts = await saltsOf(bindings)
  assert.deepEqual([...salts.keys()], ['salt-2026-07-01'])
  const rows = await rowsOf(bindings)
  for (const salt of salts.values()) assert.match(salt, /^[0-9a-f]{64}$/)
  const all = JSON.stringify(rows)
  for (const text of [...salts.values(), '198.51.100']) assert.ok(!all.includes(text), text)
  const DAILY_TABLES = ['places', 'shares', 'report_budgets']
  for (const table of DAILY_TABLES) assert.ok(rows[table]!.length > 0, `${table} has rows`)
  for (const table of ['links', 'uploads', 'salts']) assert.deepEqual(rows[table], [], table)

  // Data is kept half an hour longer, for requests that started before midnight.
  t.mock.timers.setTime(NOON + DAY_MS / 2 + 29 * 60_000)
  await trigger()
  assert.equal((await saltsOf(bindings)).size, 1)
  t.mock.timers.setTime(NOON + DAY_MS / 2 + 31 * 60_000)
  await trigger()
  assert.equal((await saltsOf(bindings)).size, 0)
  const after = await rowsOf(bindings)
  for (const table of DAILY_TABLES) assert.deepEqual(after[table], [], table)
})
