/** SQL as SQLite and Postgres share it, with its values in place: they are sent beside it, never in it. */
import type { SqlValue, Statement } from './database.ts'

/** A piece of a statement, with its values. */
export type Part = Statement

/** Values in parentheses, for `in`. There must be one at least. */
export function list(values: readonly SqlValue[]): Part {
  return { sql: `(${values.map(() => '?').join(', ')})`, parameters: values.map(checked) }
}

/** SQL that not all databases know. Only ever a constant of the source. */
export function rawSql(text: string): Part {
  return { sql: text, parameters: [] }
}

/** Texts of templates with nothing but values in them, which are the same each time. One for each place in the source. */
const fixedTexts = new Map<TemplateStringsArray, string>()

/** Each value becomes a `?`, a part what it says. Throws `TypeError` for a value that the databases do not take alike. */
export function sql(texts: TemplateStringsArray, ...values: (SqlValue | Part)[]): Statement {
  if (values.some((value) => typeof value === 'object')) return composed(texts, values)
  let text = fixedTexts.get(texts)
  if (text === undefined) {
    text = texts.join('?')
    fixedTexts.set(texts, text)
  }
  return { sql: text, parameters: (values as SqlValue[]).map(checked) }
}

/** The condition that always holds. */
export const ALWAYS = sql`1 = 1`

/**
 * Statements as one (PostgreSQL 18, 7.8.4): one round trip, not one for each and the transaction's. Each sees the tables as
 * they were, and what the ones it names return.
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
    const piece = typeof value === 'object' ? value : { sql: '?', parameters: [checked(value)] }
    text += piece.sql + texts[index + 1]!
    parameters.push(...piece.parameters)
  }
  return { sql: text, parameters }
}

/**
 * Postgres has no NUL in text and no fractions in integers, SQLite stores both. Refused for all, so that all behave
 * the same.
 */
function checked(value: SqlValue): SqlValue {
  if (typeof value === 'string') {
    if (value.includes('\0')) throw new TypeError('the ledger takes no text with a NUL in it')
    return value
  }
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value
  throw new TypeError(`the ledger takes text and whole numbers, not ${String(value)}`)
}
