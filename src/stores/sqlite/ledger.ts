/** Adapter: the ledger in SQLite, shared by the processes of one machine. Private tables are in separate files next to it. */
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type Ledger, NoLedger } from '../ledger.ts'
import { sqlLedger } from '../sql/ledger.ts'
import { LIST_MIGRATIONS } from '../sql/migrations.ts'
import { CREATE_MIGRATIONS, pendingMigrations } from '../sql/schema.ts'
import { type Connection, inTransaction, rowsOf } from './connection.ts'
import { extractPrivate, isClean } from './extract-private.ts'
import { sqlitePrivate } from './private.ts'
import { openReopenable } from './reopening.ts'
import { isDiskFull, openReserve, withReserve } from './reserve.ts'
import { openServerLock } from './servers.ts'

export interface SqliteLedgerOptions {
  /** Created if missing, along with its folder. Must be on a local disk: network file systems don't share locks. */
  file: string
  /** How long to wait for another process. */
  timeoutMs?: number
  /** Throws `NoLedger` if the file does not exist. */
  mustExist?: boolean
}

const DEFAULT_TIMEOUT_MS = 5000

/** Folder of private files, next to the ledger's file. */
const PRIVATE = 'private'

/** Opens or creates the file, and migrates it. Throws `LedgerUnavailable`. */
export async function openSqliteLedger(options: SqliteLedgerOptions): Promise<Ledger> {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, mustExist = false } = options
  const file = resolve(options.file)
  if (mustExist && !existsSync(file)) throw new NoLedger(`there is no ledger at ${file}`)
  const folder = join(dirname(file), PRIVATE)
  const serverLock = openServerLock(`${file}-servers`, timeoutMs)
  let isReady = false
  const setUp = (connection: Connection) => {
    isReady = isClean(connection)
    if (isReady) migrate(connection)
  }
  const reserve = openReserve(file)
  // The log can't be created when the disk has no space or no inodes left.
  const freeSpace = () => isDiskFull(dirname(file)) && reserve.release()
  const database = await openReopenable(file, timeoutMs, { setUp, isFlushed: true }, freeSpace)
  try {
    // A new file, or one of an older version.
    if (!isReady) await extractPrivate(file, folder, timeoutMs, serverLock, migrate)
  } catch (error) {
    await database.close()
    throw error
  }
  const tables = sqlitePrivate(folder, timeoutMs, database.assertSameFile)
  const ledger = sqlLedger(database, tables, serverLock.join)
  return withReserve({ ...ledger, close: () => ledger.close().finally(serverLock.leave) }, reserve)
}

function migrate(connection: Connection): void {
  inTransaction(connection, 'immediate', () => {
    connection.exec(CREATE_MIGRATIONS)
    const applied = rowsOf<{ name: string }>(connection, LIST_MIGRATIONS).map(({ name }) => name)
    for (const { statements } of pendingMigrations(applied, 'sqlite')) connection.exec(statements.join(';'))
  })
}
