/** 10,000 hostile reports from 1,000 addresses, on both ledgers. */
import { join } from 'node:path'
import { test } from 'node:test'
import { openPostgresLedger } from '../src/stores/postgres/ledger.ts'
import { openSqliteLedger } from '../src/stores/sqlite/ledger.ts'
import { startPostgres } from './support/processes/postgres.ts'
import { checkFlood } from './support/report-flood.ts'

test('10,000 hostile reports from 1,000 addresses do not block honest ones: SQLite', async () => {
  await checkFlood({ WORKERS: '2' }, (dataDir) => openSqliteLedger({ file: join(dataDir, 'ledger.sqlite') }))
})

test('10,000 hostile reports from 1,000 addresses do not block honest ones: Postgres', async () => {
  const postgres = await startPostgres()
  try {
    const url = await postgres.createSchema()
    await checkFlood({ LEDGER_URL: url }, () => openPostgresLedger({ url }))
  } finally {
    await postgres.destroy()
  }
})
