/** Adapter: the ledger in D1, through a Worker's binding. */
import type { Ledger } from '../ledger.ts'
import { sqlLedger } from '../sql/ledger.ts'
import { LIST_MIGRATIONS, missingMigrations } from '../sql/migrations.ts'
import type { D1Binding } from './binding.ts'
import { d1Database } from './database.ts'
import { d1Private, type Salts } from './private.ts'

/**
 * Throws `LedgerUnavailable`, and an `Error` that says what to do if its tables are not those of this version: isolates come
 * and go by the hundred, so none of them makes or changes tables.
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
  // Nobody can tell which isolates there are.
  return sqlLedger(database, d1Private(database, options.salts), async () => {})
}
