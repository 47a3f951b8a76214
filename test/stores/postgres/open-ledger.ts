/** Ledgers in Postgres, closed after the test. */
import type { TestContext } from 'node:test'
import { Client } from 'pg'
import type { Ledger } from '../../../src/stores/ledger.ts'
import { openPostgresLedger } from '../../../src/stores/postgres/ledger.ts'
import type { PostgresServer } from '../../support/processes/postgres.ts'

export async function openLedger(
  t: TestContext,
  options: Parameters<typeof openPostgresLedger>[0],
): Promise<Ledger> {
  const ledger = await openPostgresLedger(options)
  t.after(() => ledger.close())
  return ledger
}

/** A ledger, and a connection by the database's owner. */
export async function ledgerOf(t: TestContext, server: PostgresServer) {
  const url = await server.createSchema()
  const ledger = await openLedger(t, { url })
  const owner = new Client({ connectionString: url })
  await owner.connect()
  t.after(() => owner.end())
  return { ledger, owner, url }
}

export async function succeeds(call: Promise<unknown>): Promise<boolean> {
  return call.then(
    () => true,
    () => false,
  )
}
