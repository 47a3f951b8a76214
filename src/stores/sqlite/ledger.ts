/** Adapter: the ledger in SQLite, shared by the processes of one machine. What is private is in files beside it. */
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Ledger } from '../ledger.ts'
import { sqlLedger } from '../sql/ledger.ts'
import { LIST_MIGRATIONS } from '../sql/migrations.ts'
import { CREATE_MIGRATIONS, pendingMigrations } from '../sql/schema.ts'
import { type Connection, inTransaction, rowsOf } from './connection.ts'
import { sqlitePrivate } from './private.ts'
import { openReopening } from './reopening.ts'
import { isDiskFull, openReserve, withReserve } from './reserve.ts'
import { serversOn } from './servers.ts'
import { isClean, takeOutPrivate } from './take-out.ts'

export interface SqliteLedgerOptions {
  /** Made if it is not there, with its folder. On a disk of this machine: others share no locks. */
  file: string
  /** How long to wait for another process. */
  timeoutMs?: number
  /** Refuses to make it. */
  mustExist?: boolean
}

const DEFAULT_TIMEOUT_MS = 5000

/** Beside the ledger's file. */
const PRIVATE = 'private'

/** Opens the file, or makes it, and brings its tables up to date. Throws `LedgerUnavailable`. */
export async function openSqliteLedger(options: SqliteLedgerOptions): Promise<Ledger> {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, mustExist = false } = options
  const file = resolve(options.file)
  if (mustExist && !existsSync(file)) throw new Error(`there is no ledger at ${file}`)
  const folder = join(dirname(file), PRIVATE)
  const servers = serversOn(`${file}-servers`, timeoutMs)
  let isReady = false
  const setUp = (connection: Connection) => {
    isReady = isClean(connection)
    if (isReady) migrate(connection)
  }
  const reserve = openReserve(file)
  // A log that can't be made: the disk has no room or no inode left.
  const makesRoom = () => isDiskFull(dirname(file)) && reserve.release()
  const database = await openReopening(file, timeoutMs, { setUp, isFlushed: true }, makesRoom)
  try {
    // A file of an older version, or a new one.
    if (!isReady) await takeOutPrivate(file, folder, timeoutMs, servers, migrate)
  } catch (error) {
    await database.close()
    throw error
  }
  const tables = sqlitePrivate(folder, timeoutMs, database.assertSameFile)
  const ledger = sqlLedger(database, tables, servers.join)
  return withReserve({ ...ledger, close: () => ledger.close().finally(servers.leave) }, reserve)
}

function migrate(connection: Connection): void {
  inTransaction(connection, 'immediate', () => {
    connection.exec(CREATE_MIGRATIONS)
    const applied = rowsOf<{ name: string }>(connection, LIST_MIGRATIONS).map(({ name }) => name)
    for (const { statements } of pendingMigrations(applied, 'sqlite')) connection.exec(statements.join(';'))
  })
}
