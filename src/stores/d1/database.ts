/** A D1 database: SQLite in one place, reached over the network, one writer at a time. */
import { LedgerFull, LedgerUnavailable } from '../ledger.ts'
import { type Outcome, type SqlDatabase, type Statement, sqliteDialect } from '../sql/database.ts'
import type { D1Binding, D1Result, D1Statement } from './binding.ts'

/** Cloudflare D1, "Limits": bound parameters of a query. */
const MAX_PARAMETERS = 100

/** What a statement has wrong with it; all else is trouble with the database or the way to it. */
const OF_STATEMENT = /SQLITE_(ERROR|CONSTRAINT|MISMATCH|RANGE|TOOBIG|AUTH)|D1_TYPE_ERROR|no such|syntax error/

const FULL = /SQLITE_FULL|maximum DB size|maximum database size/i

/** Ten gigabytes on a paid plan (Cloudflare D1, "Limits"). */
const REMEDY = 'a D1 database takes no more than its plan allows: see Cloudflare D1, "Limits"'

export function d1Database(binding: D1Binding): SqlDatabase {
  const prepared = ({ sql, parameters }: Statement): D1Statement => {
    const statement = binding.prepare(sql)
    return parameters.length === 0 ? statement : statement.bind(...parameters.map(wellFormed))
  }

  return {
    dialect: { ...sqliteDialect, maxParameters: MAX_PARAMETERS },

    async read(statement) {
      return (await passing(() => prepared(statement).all())).results as never
    },

    async write(statements) {
      const results = await passing(() => binding.batch(statements.map(prepared)))
      return results.map(outcomeOf)
    },

    // History is kept for thirty days whatever is done here: nothing that must go is in it.
    async wipe() {},

    async close() {},
  }
}

/** D1 would make three replacement characters of half a surrogate pair, where other databases make one. */
function wellFormed(value: string | number): string | number {
  return typeof value === 'string' ? value.toWellFormed() : value
}

function outcomeOf({ results, meta }: D1Result): Outcome {
  return { rows: results, changes: results.length > 0 ? results.length : meta.changes }
}

async function passing<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    if (FULL.test(message)) throw new LedgerFull(REMEDY, { cause: error })
    throw OF_STATEMENT.test(message) ? error : new LedgerUnavailable({ cause: error })
  }
}
