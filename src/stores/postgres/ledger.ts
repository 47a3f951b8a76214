/** Adapter: the ledger in Postgres, shared by many machines. */
import { type ClientBase, DatabaseError, Pool, type PoolClient, type QueryConfig, types } from 'pg'
import { type Ledger, LedgerFull, LedgerUnavailable } from '../ledger.ts'
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
  /** `postgres://user:password@host:port/database`, and libpq's parameters such as `sslmode`. */
  url: string
  /** Connections of this process. */
  maxConnections?: number
  /** How long to wait for a connection, and for a statement. */
  timeoutMs?: number
  /** Refuses to make its tables. */
  mustExist?: boolean
  /** Where this machine keeps the salts that it knows, for one that the database's crash takes. `null`: in memory. */
  saltFolder?: string | null
}

const DEFAULT_MAX_CONNECTIONS = 10
const DEFAULT_TIMEOUT_MS = 5000
const IDLE_TIMEOUT_MS = 30_000

/** A migration may rewrite a table, or wait for the process that does. */
const MIGRATION_TIMEOUT_MS = 600_000

/** Any constant that no other program on the server uses. */
const MIGRATION_LOCK = 7_165_214_690

/**
 * PostgreSQL 18, appendix A: trouble with the connection (08), who may connect (28, 3D), the transaction's state (25:
 * a standby is read only; 40: deadlock), resources (53), locks (55), an operator's act or a timeout (57), the system (58).
 */
const UNAVAILABLE = /^(08|25|28|3D|40|53|55|57|58)/

/** The same: `disk_full`. */
const FULL = '53100'

/** Connects, and brings the tables up to date. Throws `LedgerUnavailable`. */
export async function openPostgresLedger(options: PostgresLedgerOptions): Promise<Ledger> {
  const pool = connect(options)
  try {
    if (options.mustExist) await assertThere(pool)
    await transact(pool, migrate)
  } catch (error) {
    await pool.end()
    throw error
  }
  // Nobody can tell whether there are others: a pooler keeps connections of servers that are gone, and shares them.
  const database = databaseOf(pool)
  const tables = postgresPrivate(database, options.saltFolder ?? null)
  const ledger = sqlLedger(database, tables, async () => {})
  return {
    ...ledger,
    // Each server asks for the time every half minute: a salt that a crash took is back by then.
    async time() {
      const time = await ledger.time()
      await tables.putBack()
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
    // A server that is gone without a word answers no statement_timeout.
    query_timeout: timeoutMs * 2,
    types: { getTypeParser },
    onConnect: makeCommitsDurable,
  })
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on('error', () => {})
  // The same for one that breaks while it is in use. Its statement fails on its own.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/** A server may be set to answer before a commit is on its disk. */
async function makeCommitsDurable(client: ClientBase): Promise<void> {
  await client.query(
    "select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'",
  )
}

function databaseOf(pool: Pool): SqlDatabase {
  let closing: Promise<void> | undefined

  return {
    dialect: postgresDialect,

    read: async (statement) => (await ask(pool, queryOf(statement))).rows as never,

    async write(statements) {
      // In autocommit: one round trip.
      if (statements.length === 1) return [await ask(pool, queryOf(statements[0]!))]
      return transact(pool, async (client) => {
        const outcomes: Outcome[] = []
        for (const statement of statements) outcomes.push(await ask(client, queryOf(statement)))
        return outcomes
      })
    },

    // Vacuum comes by itself.
    async wipe() {},

    close() {
      // Once the ledger's calls have ended: the pool forgets those that wait for a connection.
      closing ??= pool.end()
      return closing
    },
  }
}

async function transact<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await passing(() => pool.connect())
  let failure: Error | undefined
  try {
    await ask(client, { text: 'begin' })
    const value = await work(client)
    await ask(client, { text: 'commit' })
    return value
  } catch (error) {
    failure = error as Error
    throw error
  } finally {
    // Closing the connection rolls back, and works where a rollback could not be sent.
    client.release(failure)
  }
}

async function assertThere(pool: Pool): Promise<void> {
  const { rows } = await ask(pool, { text: "select to_regclass('migrations') is not null as there" })
  if (!rows[0]!.there) throw new Error('there is no ledger in this database')
}

async function migrate(client: PoolClient): Promise<void> {
  const run = (text: string, values: SqlValue[] = []) =>
    ask(client, { text, values, query_timeout: MIGRATION_TIMEOUT_MS } as QueryConfig)
  await run(`set local statement_timeout = ${MIGRATION_TIMEOUT_MS}`)
  await run('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK])
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

/** The pool drops a connection whose statement failed. */
async function ask(connection: Pool | PoolClient, query: QueryConfig): Promise<Outcome> {
  const { rows, rowCount } = await passing(() => connection.query(query))
  return { rows, changes: rowCount ?? 0 }
}

/** https://www.postgresql.org/docs/current/disk-full.html */
const REMEDY = 'make room on the disk of the Postgres server, which holds nothing back for the operator'

/** 64-bit integers come as text; none of the ledger's is past 2^53. */
function getTypeParser(oid: number, format?: 'text' | 'binary') {
  return oid === types.builtins.INT8 ? Number : types.getTypeParser(oid, format as 'text')
}

async function passing<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof DatabaseError && error.code === FULL) throw new LedgerFull(REMEDY, { cause: error })
    // What is not said by the server is said by the connection or the pool.
    const isUnavailable = !(error instanceof DatabaseError) || UNAVAILABLE.test(error.code ?? '')
    throw isUnavailable ? new LedgerUnavailable({ cause: error }) : error
  }
}
