/** Adapter: the ledger in D1, accessed through a Worker's binding. */
import type { Ledger } from '../ledger.ts'
import { sqlLedger } from '../sql/ledger.ts'
import { LIST_MIGRATIONS, missingMigrations } from '../sql/migrations.ts'
import type { D1Binding } from './binding.ts'
import { d1Database } from './database.ts'
import { d1Private, type Salts } from './private.ts'

/**
 * Throws `LedgerUnavailable`, or an `Error` with instructions if migrations are missing. Never migrates: hundreds of isolates
 * come and go.
 */
export async function openD1Ledger(options: { database: D1Binding; salts: Salts }): Promise<Ledger> {
  const database = d1Database(options.database)
  const applied = await database
    .read<{ name: string }>({ sql: LIST_MIGRATIONS, parameters: [] })
    .then((rows) => rows.map(({ name }) => name))
    .catch((error) => {
      if (error instanceof Error && /no such table/.test(error.message)) return []
      throw error
    })
  if (missingMigrations(applied).length > 0) {
    throw new Error('the ledger lacks tables: run "npx wrangler d1 migrations apply" (deploy/cloudflare)')
  }
  // `join` does nothing: there is no way to tell which isolates are running.
  return sqlLedger(database, d1Private(database, options.salts), async () => {})
}
