/** Port: the database that the shared queries run on. One implementation per technology. */

export type SqlValue = string | number

export interface Statement {
  /** One `?` for each parameter, and no other question marks. */
  readonly sql: string
  readonly parameters: readonly SqlValue[]
}

/** Values by column name. 64-bit integers are numbers. */
export type Row = Readonly<Record<string, SqlValue | null>>

export interface Outcome {
  /** Rows returned, if the statement returns any. */
  readonly rows: readonly Row[]
  /** Rows inserted, updated or deleted. */
  readonly changes: number
}

/** Throws `LedgerUnavailable` when the database can't be reached, and the driver's error for an invalid statement. */
export interface SqlDatabase {
  readonly dialect: SqlDialect
  /** Runs one read-only statement. */
  read<Found = Row>(statement: Statement): Promise<readonly Found[]>
  /**
   * Runs statements in one transaction, durable when it resolves. Returns one outcome per statement. `isLazy`: saves the
   * flush where one is needed for durability; a power cut may then undo the change.
   */
  write(statements: readonly Statement[], isLazy?: boolean): Promise<Outcome[]>
  /** Makes deleted rows unrecoverable from logs and other auxiliary files, as far as the technology allows. */
  wipe(): Promise<void>
  close(): Promise<void>
}

/** Differences between the databases. */
export interface SqlDialect {
  /** Maximum number of parameters per statement. */
  readonly maxParameters: number
  /** Postgres has `for update skip locked` and data-modifying statements in `with`, SQLite a single writer and `changes()`. */
  readonly isPostgres: boolean
  /** SQL for the clock of the database's machine, in epoch milliseconds. `null`: it runs on this machine. */
  readonly clock: string | null
}

// https://www.sqlite.org/limits.html, "Maximum Number Of Host Parameters".
export const sqliteDialect: SqlDialect = {
  maxParameters: 32_766,
  isPostgres: false,
  clock: null,
}

// PostgreSQL 18, 54.7: Bind has a 16-bit parameter count.
export const postgresDialect: SqlDialect = {
  maxParameters: 65_535,
  isPostgres: true,
  clock: '(extract(epoch from clock_timestamp()) * 1000)::bigint',
}
