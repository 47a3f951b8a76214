import { after, before } from 'node:test'
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

ledgerContract('postgres', openSubject, { modelRuns: 8 })

async function openSubject(): Promise<LedgerUnderTest> {
  const url = await server.createSchema()
  return {
    open: () => openPostgresLedger({ url }),
    process: () => startLedgerProcess({ url }),
    async interrupt() {
      await server.stop()
      return () => server.start()
    },
    async raw() {
      // What no log has is written when the server ends.
      await server.stop()
      await server.start()
      await server.finishWal()
      return (texts) => tracesIn(server.folder, texts)
    },
    async destroy() {},
  }
}

saltCases(() => server)
statementCases(() => server)
connectionCases(() => server)
