/** From Kysely's queries to statements: compiled once where it pays, and only with values every database takes alike. */
import type { SqlValue, Statement } from './sql-database.ts'

/** A query of Kysely's. */
interface Compilable {
  compile(): { readonly sql: string; readonly parameters: readonly unknown[] }
}

/** Stands for a value that each call fills in. */
class Slot {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/** Compiles a query that is asked once in a while. */
export function statement(query: Compilable): Statement {
  const { sql, parameters } = query.compile()
  return { sql, parameters: parameters.map(checked) }
}

/**
 * Compiles a query once. Compiling costs three times as much as running it in SQLite. `build` gets a stand-in for
 * each parameter and must pass it on to Kysely as it is.
 */
export function template<P extends object>(build: (parameter: P) => Compilable): (values: P) => Statement {
  const slots = new Proxy({} as P, { get: (_, name) => new Slot(String(name)) })
  const { sql, parameters } = build(slots).compile()
  return (values) => ({
    sql,
    parameters: parameters.map((value) =>
      checked(value instanceof Slot ? values[value.name as keyof P] : value),
    ),
  })
}

/**
 * Postgres has no NUL in text and no fractions in integers, SQLite stores both. Refused for all, so that all behave
 * the same.
 */
function checked(value: unknown): SqlValue {
  if (typeof value === 'string') {
    if (value.includes('\0')) throw new TypeError('the ledger takes no text with a NUL in it')
    return value
  }
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value
  throw new TypeError(`the ledger takes text and whole numbers, not ${String(value)}`)
}
