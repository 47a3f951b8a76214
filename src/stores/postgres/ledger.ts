/** Adapter: the ledger in Postgres, shared by many machines. */
import { type ClientBase, DatabaseError, Pool, type PoolClient, type QueryConfig, types } from 'pg'
import { type Ledger, LedgerFull, LedgerUnavailable, NoLedger } from '../ledger.ts'
import {
  type Outcome,
  postgresDialect,
  type SqlDatabase,
  type SqlValue,
  type Statement,
} from '../sql/database.ts'
import { sqlLedger } from '../sql/ledger.ts'
import { LIST_MIGRATIONS } from '../sql/migrations.ts'
import { CREATE_MIGRATIONS, pendingMigrations } from '../sql/schema.ts'
import { postgresPrivate } from './private.ts'

export interface PostgresLedgerOptions {
  /** `postgres://user:password@host:port/database`, with libpq parameters such as `sslmode`. */
  url: string
  /** Maximum connections of this process. */
  maxConnections?: number
  /** How long to wait for a connection, and for a statement. */
  timeoutMs?: number
  /** Throws if the tables don't exist. */
  mustExist?: boolean
  /** Where this machine keeps copies of salts, to restore those that a crash of the database loses. `null`: in memory. */
  saltFolder?: string | null
}

const DEFAULT_MAX_CONNECTIONS = 10
const DEFAULT_TIMEOUT_MS = 5000
const IDLE_TIMEOUT_MS = 30_000

/** A migration may rewrite a table, or wait for another process doing so. */
const MIGRATION_TIMEOUT_MS = 600_000

/** An arbitrary constant that no other program on the server uses. */
const MIGRATION_LOCK = 7_165_214_690

/**
 * PostgreSQL 18, appendix A: connection exceptions (08), authorization (28), database name (3D), transaction state (25: a
 * standby is read-only; 40: deadlock), insufficient resources (53), locks (55), operator intervention or timeout (57),
 * system errors (58).
 */
const UNAVAILABLE = /^(08|25|28|3D|40|53|55|57|58)/

/** `disk_full`. */
const FULL = '53100'

/** Connects, and migrates the tables. Throws `LedgerUnavailable`. */
export async function openPostgresLedger(options: PostgresLedgerOptions): Promise<Ledger> {
  const pool = connect(options)
  try {
    if (options.mustExist) await assertExists(pool)
    await transact(pool, migrate)
  } catch (error) {
    await pool.end()
    throw error
  }
  // `join` does nothing. Other servers can't be detected: a pooler keeps connections of stopped servers, and shares them.
  const database = databaseOf(pool)
  const tables = postgresPrivate(database, options.saltFolder ?? null)
  const ledger = sqlLedger(database, tables, async () => {})
  return {
    ...ledger,
    // Each server asks for the time every half minute, so a salt lost in a crash is restored within that time.
    async time() {
      const time = await ledger.time()
      await tables.restoreSalts()
      return time
    },
  }
}

function connect({
  url,
  maxConnections = DEFAULT_MAX_CONNECTIONS,
  timeoutMs = DEFAULT_TIMEOUT_MS,
}: PostgresLedgerOptions): Pool {
  const pool = new Pool({
    connectionString: url,
    application_name: 'pinhole',
    max: maxConnections,
    connectionTimeoutMillis: timeoutMs,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    keepAlive: true,
    statement_timeout: timeoutMs,
    idle_in_transaction_session_timeout: timeoutMs,
    // A server that vanished can't enforce statement_timeout.
    query_timeout: timeoutMs * 2,
    types: { getTypeParser },
    onConnect: makeCommitsDurable,
  })
  // The pool replaces an idle connection that breaks; without a listener the error would terminate the process.
  pool.on('error', () => {})
  // Likewise for a connection in use. Its statement fails anyway.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/** A server may be configured to respond before a commit is flushed. */
async function makeCommitsDurable(client: ClientBase): Promise<void> {
  await client.query(
    "select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'",
  )
}

function databaseOf(pool: Pool): SqlDatabase {
  let closing: Promise<void> | undefined

  return {
    dialect: postgresDialect,

    read: async (statement) => (await execute(pool, queryOf(statement))).rows as never,

    async write(statements) {
      // Autocommit: one round trip.
      if (statements.length === 1) return [await execute(pool, queryOf(statements[0]!))]
      return transact(pool, async (client) => {
        const outcomes: Outcome[] = []
        for (const statement of statements) outcomes.push(await execute(client, queryOf(statement)))
        return outcomes
      })
    },

    // Autovacuum takes care of it.
    async wipe() {},

    close() {
      // Only after the ledger's calls have ended: the pool abandons requests that are waiting for a connection.
      closing ??= pool.end()
      return closing
    },
  }
}

async function transact<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await translatingErrors(() => pool.connect())
  let failure: Error | undefined
  try {
    await execute(client, { text: 'begin' })
    const value = await work(client)
    await execute(client, { text: 'commit' })
    return value
  } catch (error) {
    failure = error as Error
    throw error
  } finally {
    // On failure, closes the connection: that rolls back, and works even when a rollback can't be sent.
    client.release(failure)
  }
}

async function assertExists(pool: Pool): Promise<void> {
  const { rows } = await execute(pool, { text: "select to_regclass('migrations') is not null as there" })
  if (!rows[0]!.there) throw new NoLedger('there is no ledger in this database')
}

async function migrate(client: PoolClient): Promise<void> {
  const run = (text: string, values: SqlValue[] = []) =>
    execute(client, { text, values, query_timeout: MIGRATION_TIMEOUT_MS } as QueryConfig)
  await run(`set local statement_timeout = ${MIGRATION_TIMEOUT_MS}`)
  await run('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK])
  // Running servers queue behind a migration that waits for a long read of a table: rather, this start fails.
  await run("set local lock_timeout = '1s'")
  await run(CREATE_MIGRATIONS)
  const applied = (await run(LIST_MIGRATIONS)).rows.map(({ name }) => String(name))
  for (const { statements } of pendingMigrations(applied, 'postgres')) {
    for (const statement of statements) await run(statement)
  }
}

function queryOf({ sql, parameters }: Statement): QueryConfig {
  let number = 0
  return { text: sql.replaceAll('?', () => `$${++number}`), values: [...parameters] }
}

/** On a pool: a connection whose statement failed is dropped. */
async function execute(connection: Pool | PoolClient, query: QueryConfig): Promise<Outcome> {
  const { rows, rowCount } = await translatingErrors(() => connection.query(query))
  return { rows, changes: rowCount ?? 0 }
}

/** https://www.postgresql.org/docs/current/disk-full.html */
const REMEDY = 'free up space on the disk of the Postgres server, which has no reserve for the operator'

/** `pg` returns 64-bit integers as text. None of the ledger's exceeds 2^53. */
function getTypeParser(oid: number, format?: 'text' | 'binary') {
  return oid === types.builtins.INT8 ? Number : types.getTypeParser(oid, format as 'text')
}

async function translatingErrors<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof DatabaseError && error.code === FULL) throw new LedgerFull(REMEDY, { cause: error })
    // Errors that don't come from the server come from the connection or the pool.
    const isUnavailable = !(error instanceof DatabaseError) || UNAVAILABLE.test(error.code ?? '')
    throw isUnavailable ? new LedgerUnavailable({ cause: error }) : error
  }
}
