/** What the shared queries need of a database. One implementation a technology. */

export type SqlValue = string | number

export interface Statement {
  /** With a `?` for each parameter, and no other question mark. */
  readonly sql: string
  readonly parameters: readonly SqlValue[]
}

/** By name of the column. 64-bit integers are numbers. */
export type Row = Readonly<Record<string, SqlValue | null>>

export interface Outcome {
  /** What the statement returns, if it returns rows. */
  readonly rows: readonly Row[]
  /** Rows that it inserted, updated or deleted. */
  readonly changes: number
}

/** Throws `LedgerUnavailable` when it can't be reached, and the technology's own error for a mistake in a statement. */
export interface SqlDatabase {
  readonly dialect: SqlDialect
  /** The rows of one statement that changes nothing. */
  read<Found = Row>(statement: Statement): Promise<readonly Found[]>
  /**
   * Runs statements as one: all or none of them, durable when it resolves. One outcome each. `isLazy`: a power cut may undo
   * it, and where a flush is a cost of its own it is saved.
   */
  write(statements: readonly Statement[], isLazy?: boolean): Promise<Outcome[]>
  /** Makes deleted rows unreadable in what the technology keeps beside its tables, as far as it can. */
  wipe(): Promise<void>
  close(): Promise<void>
}

/** Where the databases differ. */
export interface SqlDialect {
  /** Most parameters of one statement. */
  readonly maxParameters: number
  /** Knows `for update skip locked`. Those who lack it have one writer at a time. */
  readonly skipsLocked: boolean
  /** A statement may hold others that change rows, and use what they return. Others know `changes()`. */
  readonly changesInQueries: boolean
  /** Compares text by its code units, as SQL after an expression. */
  readonly byCodeUnits: string
  /** The time of the database's machine, in epoch milliseconds, as SQL. `null`: it runs on this machine. */
  readonly clock: string | null
}

// https://www.sqlite.org/limits.html, "Maximum Number Of Host Parameters".
export const sqliteDialect: SqlDialect = {
  maxParameters: 32_766,
  skipsLocked: false,
  changesInQueries: false,
  clock: null,
  byCodeUnits: '',
}

// PostgreSQL 18, 54.7: Bind counts its parameters in 16 bits.
export const postgresDialect: SqlDialect = {
  maxParameters: 65_535,
  skipsLocked: true,
  changesInQueries: true,
  byCodeUnits: 'collate "C"',
  clock: '(extract(epoch from clock_timestamp()) * 1000)::bigint',
}
