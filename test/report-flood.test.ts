/** A flood of reports closes nobody else's way, in short; `report-flood.long.test.ts` has it at length. */
import { join } from 'node:path'
import { test } from 'node:test'
import { openSqliteLedger } from '../src/stores/sqlite/ledger.ts'
import { checkFlood } from './support/report-flood.ts'

test('500 hostile reports of 50 addresses keep no honest one out, and are told once', async () => {
  await checkFlood({ reports: 500, addresses: 50, images: 12 }, {}, (dataDir) =>
    openSqliteLedger({ file: join(dataDir, 'ledger.sqlite') }),
  )
})
