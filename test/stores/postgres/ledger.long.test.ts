import { after, before } from 'node:test'
import { Client } from 'pg'
import { openPostgresLedger } from '../../../src/stores/postgres/ledger.ts'
import { type LedgerUnderTest, ledgerContract } from '../../contracts/ledger.ts'
import { startLedgerProcess } from '../../support/processes/ledger-process.ts'
import { type PostgresServer, startPostgres } from '../../support/processes/postgres.ts'
import { tracesIn } from '../../support/traces.ts'
import { connectionCases } from './connections.ts'
import { saltCases } from './salts.ts'
import { statementCases } from './statements.ts'

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server?.destroy())

ledgerContract('postgres', openSubject)

/** Emptied schemas for later cases: creating the tables takes longer than most cases. */
const emptied: string[] = []

async function openSubject({ isNew } = { isNew: false }): Promise<LedgerUnderTest> {
  const url = (isNew ? undefined : emptied.pop()) ?? (await server.createSchema())
  return {
    open: () => openPostgresLedger({ url }),
    process: () => startLedgerProcess({ url }),
    async interrupt() {
      await server.stop()
      return () => server.start()
    },
    async raw() {
      // Unlogged tables are flushed when the server stops.
      await server.stop()
      await server.start()
      await server.finishWal()
      return (texts) => tracesIn(server.folder, texts)
    },
    async destroy() {
      await empty(url)
      emptied.push(url)
    },
  }
}

/** Resets a schema: truncates each table that has pages, and drops the partitions of days. */
async function empty(url: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(`do $$
    declare name text;
    begin
      for name in select relname from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r'
        and relname <> 'migrations' and (relname ~ '_\\d{8}$' or pg_relation_size(oid) > 0)
      loop
        execute (case when name ~ '_\\d{8}$' then 'drop table ' else 'truncate ' end) || name;
      end loop;
    end $$`)
  await client.end()
}

saltCases(() => server)
statementCases(() => server)
connectionCases(() => server)
