/** A D1 database: SQLite at one location, accessed over the network, with a single writer. */
import { LedgerFull, LedgerUnavailable } from '../ledger.ts'
import { type Outcome, type SqlDatabase, type Statement, sqliteDialect } from '../sql/database.ts'
import type { D1Binding, D1Result, D1Statement } from './binding.ts'

/** Cloudflare D1, "Limits": bound parameters per query. */
const MAX_PARAMETERS = 100

/** Errors in a statement. All others are problems with the database or the connection to it. */
const STATEMENT_ERROR =
  /SQLITE_(ERROR|CONSTRAINT|MISMATCH|RANGE|TOOBIG|AUTH)|D1_TYPE_ERROR|no such|syntax error/

const FULL = /SQLITE_FULL|maximum DB size|maximum database size/i

/** Ten gigabytes on a paid plan (Cloudflare D1, "Limits"). */
const REMEDY = 'the D1 database has reached the maximum size of its plan: see Cloudflare D1, "Limits"'

export function d1Database(binding: D1Binding): SqlDatabase {
  const prepared = ({ sql, parameters }: Statement): D1Statement => {
    const statement = binding.prepare(sql)
    return parameters.length === 0 ? statement : statement.bind(...parameters.map(wellFormed))
  }

  return {
    dialect: { ...sqliteDialect, maxParameters: MAX_PARAMETERS },

    async read(statement) {
      return (await translatingErrors(() => prepared(statement).all())).results as never
    },

    async write(statements) {
      const results = await translatingErrors(() => binding.batch(statements.map(prepared)))
      return results.map(outcomeOf)
    },

    // D1 keeps its history for thirty days regardless, so nothing that must be erased is stored in it.
    async wipe() {},

    async close() {},
  }
}

/** D1 would turn a lone surrogate into three replacement characters, where other databases use one. */
function wellFormed(value: string | number): string | number {
  return typeof value === 'string' ? value.toWellFormed() : value
}

function outcomeOf({ results, meta }: D1Result): Outcome {
  return { rows: results, changes: results.length > 0 ? results.length : meta.changes }
}

async function translatingErrors<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    if (FULL.test(message)) throw new LedgerFull(REMEDY, { cause: error })
    throw STATEMENT_ERROR.test(message) ? error : new LedgerUnavailable({ cause: error })
  }
}
