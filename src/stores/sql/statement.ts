/** SQL templates for SQLite and Postgres. Values are always sent as parameters, never inside the SQL text. */
import type { SqlValue, Statement } from './database.ts'

/** Fragment of a statement, with its values. */
export type Part = Statement

/** Values in parentheses, for `in`. Must not be empty. */
export function list(values: readonly SqlValue[]): Part {
  return { sql: `(${values.map(() => '?').join(', ')})`, parameters: values.map(checked) }
}

/** SQL text inserted as is. Pass only constants from source code. */
export function rawSql(text: string): Part {
  return { sql: text, parameters: [] }
}

/** Cache of the SQL of templates without parts, which is always the same. One entry per template in the source. */
const cachedTexts = new Map<TemplateStringsArray, string>()

/** Values become `?`, parts are inlined. Throws `TypeError` for a value that the databases would handle differently. */
export function sql(texts: TemplateStringsArray, ...values: (SqlValue | Part)[]): Statement {
  if (values.some((value) => typeof value === 'object')) return composed(texts, values)
  let text = cachedTexts.get(texts)
  if (text === undefined) {
    text = texts.join('?')
    cachedTexts.set(texts, text)
  }
  return { sql: text, parameters: (values as SqlValue[]).map(checked) }
}

/** A condition that is always true. */
export const ALWAYS = sql`1 = 1`

/**
 * Combines statements into one with CTEs (PostgreSQL 18, 7.8.4): a single round trip instead of several and a transaction's.
 * All see the same snapshot of the tables, and the rows returned by the CTEs they reference.
 */
export function joined(parts: Record<string, Statement>, last: Statement): Statement {
  const named = Object.entries(parts).map(([name, { sql }]) => `${name} as (${sql})`)
  return {
    sql: `with ${named.join(', ')} ${last.sql}`,
    parameters: [...Object.values(parts), last].flatMap(({ parameters }) => parameters),
  }
}

function composed(texts: TemplateStringsArray, values: (SqlValue | Part)[]): Statement {
  let text = texts[0]!
  const parameters: SqlValue[] = []
  for (const [index, value] of values.entries()) {
    const part = typeof value === 'object' ? value : { sql: '?', parameters: [checked(value)] }
    text += part.sql + texts[index + 1]!
    parameters.push(...part.parameters)
  }
  return { sql: text, parameters }
}

/** Postgres accepts neither NUL in text nor fractions in integers; SQLite stores both. Rejected here for all databases. */
function checked(value: SqlValue): SqlValue {
  if (typeof value === 'string') {
    if (value.includes('\0')) throw new TypeError('text in the ledger must not contain NUL')
    return value
  }
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value
  throw new TypeError(`values in the ledger must be text or safe integers, not ${String(value)}`)
}
