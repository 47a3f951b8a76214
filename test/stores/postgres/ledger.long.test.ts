import { after, before } from 'node:test'
import { openPostgresLedger } from '../../../src/stores/postgres/ledger.ts'
import { type LedgerUnderTest, ledgerContract } from '../../contracts/ledger.ts'
import { startLedgerProcess } from '../../support/processes/ledger-process.ts'
import { type PostgresServer, startPostgres } from '../../support/processes/postgres.ts'
import { connectionCases } from './connections.ts'
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
    async destroy() {},
  }
}

statementCases(() => server)
connectionCases(() => server)
