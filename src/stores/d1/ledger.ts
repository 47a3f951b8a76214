/** Adapter: the ledger in D1, accessed through a Worker's binding. */
import type { Ledger } from '../ledger.ts'
import { sqlLedger } from '../sql/ledger.ts'
import { LIST_MIGRATIONS, missingMigrations } from '../sql/migrations.ts'
import type { D1Binding } from './binding.ts'
import { d1Database } from './database.ts'
import { d1Private, type Salts } from './private.ts'

export function openD1Ledger(options: { database: D1Binding; salts: Salts }): Ledger {
  const database = d1Database(options.database)
  // `join` does nothing: there is no way to tell which isolates are running.
  return sqlLedger(database, d1Private(database, options.salts), async () => {})
}

/**
 * Throws `LedgerUnavailable`, or an `Error` with instructions if migrations are missing. A Worker never migrates: hundreds of
 * isolates come and go.
 */
export async function checkMigrations(binding: D1Binding): Promise<void> {
  const applied = await d1Database(binding)
    .read<{ name: string }>({ sql: LIST_MIGRATIONS, parameters: [] })
    .catch((error) => {
      if (error instanceof Error && /no such table/.test(error.message)) return []
      throw error
    })
  if (missingMigrations(applied.map(({ name }) => name)).length > 0) {
    throw new Error('the ledger lacks tables: run "npx wrangler d1 migrations apply" (deploy/cloudflare)')
  }
}
