/** One SQLite file, shared by the processes of one machine. */
import { closeSync, existsSync, fdatasync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { oncePerTick, sleep } from '../../async.ts'
import { LedgerUnavailable } from '../ledger.ts'
import { type Outcome, type SqlDatabase, type Statement, sqliteDialect } from '../sql/database.ts'
import {
  BUSY,
  type Connection,
  FLUSH,
  hasCode,
  pragma,
  throwTranslated,
  translatingErrors,
} from './connection.ts'
import { groupCommit } from './group-commit.ts'

export interface SqliteFile extends SqlDatabase {
  /** The error that made this connection permanently unusable, if any. */
  failure(): Error | null
  /** Throws `LedgerUnavailable` if the file was removed or replaced while open. */
  assertSameFile(): void
  isSameFile(): boolean
  /** `false` if another process is reading or writing. */
  truncateLog(): boolean
}

export interface FileOptions {
  /** Creates missing tables. Called without a lock or transaction. */
  setUp: (connection: Connection) => void
  /** Flush each change before it resolves. Otherwise changes survive a crash of the process, but not a power cut. */
  isFlushed: boolean
}

interface Prepared {
  query: StatementSync
  returnsRows: boolean
}

/** In older versions two processes could corrupt the file (https://www.sqlite.org/wal.html, "The WAL-Reset Bug"). */
const MIN_SQLITE_VERSION = [3, 51, 3]

const OPEN_RETRY_MS = 20

const READ_RETRY_MS = 2

/** Other processes read and write only briefly. If no attempt finds a gap, the log is truncated at the next wipe. */
const WIPE_ATTEMPTS = 20
const WIPE_RETRY_MS = 10

/** Maximum number of cached prepared statements. The ledger has about forty, and more with lists of varying length. */
const MAX_PREPARED = 200

/**
 * Retries while other processes are opening or changing the file. `recover`: called after a failure; `true` if another attempt
 * may succeed.
 */
export async function openWithRetries<T>(
  open: () => T,
  timeoutMs: number,
  recover = () => false,
): Promise<T> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    try {
      return open()
    } catch (error) {
      if (recover()) continue
      // When several processes open a new file, SQLite lets one switch to WAL mode, and the others don't wait for it.
      if (!hasCode((error as Error).cause, BUSY) || performance.now() > deadline) throw error
      await sleep(OPEN_RETRY_MS)
    }
  }
}

/** Reopens the file after a disk failure. Throws while the disk is still failing. */
export function reopenDatabase(file: string, timeoutMs: number, options: FileOptions): SqliteFile {
  if (!existsSync(file)) {
    throw new LedgerUnavailable({ cause: new Error(`${file} was removed; restore it, then restart`) })
  }
  const database = openDatabase(file, timeoutMs, options)
  try {
    if (database.truncateLog()) return database
    throw new LedgerUnavailable({ cause: new Error('another process is reading the failed log') })
  } catch (error) {
    database.close().catch(() => {})
    throw error
  }
}

/** Opens the file, or creates it. */
export function openDatabase(file: string, timeoutMs: number, { setUp, isFlushed }: FileOptions): SqliteFile {
  let log = -1
  const connection = connect(file, timeoutMs, (opened) => {
    setUp(opened)
    log = openSync(`${file}-wal`, 'r+')
  })
  const identity = identityOf(file)
  const prepared = new Map<string, Prepared>()
  const commits = groupCommit(connection, {
    busyTimeoutMs: timeoutMs,
    assertUsable: assertSameFile,
    flushLog: isFlushed ? flushLog : async () => {},
  })
  let closing: Promise<void> | undefined
  let failure: Error | null = null
  const isSameFile = oncePerTick(() => identityOf(file) === identity)

  /** A file that was removed or replaced would accept changes, and lose them when the last process closes it. */
  function assertSameFile(): void {
    if (!isSameFile()) {
      throw new LedgerUnavailable({
        cause: new Error(`${file} was removed or replaced; restore it, then restart`),
      })
    }
  }

  /**
   * Flushes commits made before the call: SQLite's own flush would block the event loop. In WAL mode a transaction is durable
   * once the frames up to its commit are on disk (https://www.sqlite.org/walformat.html, "Recovery"), no matter who flushed
   * them. The log stays the same file while any connection is open. SQLite locks the database and its shared memory, never the
   * log, so closing its descriptor drops no lock (https://www.sqlite.org/lockingv3.html, "POSIX advisory locks").
   */
  async function flushLog(): Promise<void> {
    // A failed flush may have lost the data it could not write: a later success proves nothing.
    if (failure !== null) throw failure
    await new Promise<void>((resolve, reject) => {
      fdatasync(log, (error) => {
        failure ??= error
        if (error) reject(error)
        else resolve()
      })
    })
  }

  function recordFailure(error: unknown): never {
    if (hasCode(error, FLUSH)) failure ??= error as Error
    return throwTranslated(error)
  }

  function assertOpen(): void {
    if (closing) throw new LedgerUnavailable({ cause: new Error('the ledger is closed') })
  }

  function run({ sql, parameters }: Statement): Outcome {
    const { query, returnsRows } = prepare(sql)
    if (!returnsRows) return { rows: [], changes: Number(query.run(...parameters).changes) }
    const rows = query.all(...parameters) as Outcome['rows']
    return { rows, changes: rows.length }
  }

  function prepare(sql: string): Prepared {
    let statement = prepared.get(sql)
    if (!statement) {
      if (prepared.size >= MAX_PREPARED) prepared.clear()
      const query = connection.prepare(sql)
      statement = { query, returnsRows: query.columns().length > 0 }
      prepared.set(sql, statement)
    }
    return statement
  }

  return {
    dialect: sqliteDialect,
    failure: () => failure,
    truncateLog: () => translatingErrors(() => truncateLog(connection)),
    assertSameFile,
    isSameFile,

    async read(statement) {
      assertOpen()
      assertSameFile()
      // Readers only have to wait for a process that is opening or recovering the log.
      const deadline = performance.now() + timeoutMs
      for (;;) {
        try {
          return run(statement).rows as never
        } catch (error) {
          if (!hasCode(error, BUSY) || performance.now() > deadline) return recordFailure(error)
          await sleep(READ_RETRY_MS)
        }
      }
    },

    async write(statements, isLazy) {
      assertOpen()
      return commits.submit(() => statements.map(run), isLazy).catch(recordFailure)
    },

    async wipe() {
      // Deleted rows stay in the log until it is truncated.
      for (let attempt = 0; attempt < WIPE_ATTEMPTS && !closing; attempt++) {
        if (translatingErrors(() => truncateLog(connection))) return
        await sleep(WIPE_RETRY_MS)
      }
    },

    close() {
      closing ??= commits.drain().then(() => {
        closeSync(log)
        connection.close()
      })
      return closing
    },
  }
}

export function connect(
  file: string,
  timeoutMs: number,
  setUp: (connection: Connection) => void,
): Connection {
  return translatingErrors(() => {
    mkdirSync(dirname(file), { recursive: true })
    // SQLite gives its log the same mode. Private, because with the salt, addresses can be tested against the buckets.
    // Only if it is missing: closing a file releases all locks that this process has on it.
    if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600))
    const connection = new DatabaseSync(file, { timeout: timeoutMs })
    try {
      assertVersion(connection)
      configure(connection, timeoutMs)
      setUp(connection)
      // From here on, callers retry asynchronously on a locked database: SQLite's own wait would block the event loop.
      connection.exec('pragma busy_timeout = 0')
      // SQLite allocates 64 KiB for each statement journal that may spill to a temporary file, but 1 KiB for one in memory.
      // Set after the migrations, whose sorts may not fit in memory.
      connection.exec('pragma temp_store = memory')
      return connection
    } catch (error) {
      connection.close()
      throw error
    }
  })
}

function assertVersion(connection: Connection): void {
  const { version } = connection.prepare('select sqlite_version() as version').get() as { version: string }
  const order = version.localeCompare(MIN_SQLITE_VERSION.join('.'), 'en', { numeric: true })
  if (order < 0) throw new Error(`SQLite ${version} is too old: ${MIN_SQLITE_VERSION.join('.')} is needed`)
}

/**
 * Sets every pragma explicitly. `synchronous=normal` flushes around a checkpoint, but not at a commit
 * (https://www.sqlite.org/pragma.html#pragma_synchronous): `flushLog` does that without blocking the event loop.
 */
function configure(connection: Connection, timeoutMs: number): void {
  const settings = [
    ['journal_mode', 'wal', 'wal'],
    ['synchronous', 'normal', 1],
    ['busy_timeout', timeoutMs, timeoutMs],
    ['foreign_keys', 'on', 1],
    ['secure_delete', 'on', 1],
    ['cache_size', -16_000, -16_000],
  ] as const
  for (const [name, value] of settings) connection.exec(`pragma ${name} = ${value}`)
  // Some take effect only at the first access.
  connection.prepare('select count(*) from sqlite_schema').get()
  for (const [name, , expected] of settings) {
    const actual = pragma(connection, name)
    if (actual !== expected) throw new Error(`SQLite refused to set ${name} to ${expected}: it is ${actual}`)
  }
}

/** `false` if another process is reading or writing. */
export function truncateLog(connection: Connection): boolean {
  return pragma(connection, 'wal_checkpoint(truncate)') === 0
}

function identityOf(file: string): string | undefined {
  try {
    const { dev, ino } = statSync(file)
    return `${dev}:${ino}`
  } catch {
    return undefined
  }
}
