/** One SQLite file, shared by the processes of one machine. */
import { closeSync, existsSync, fdatasync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { oncePerTick, sleep } from '../../async.ts'
import { LedgerUnavailable } from '../ledger.ts'
import { type Outcome, type SqlDatabase, type Statement, sqliteDialect } from '../sql/database.ts'
import { BUSY, type Connection, FLUSH, hasCode, passing, pragma, rethrow } from './connection.ts'
import { groupCommit } from './group-commit.ts'

export interface SqliteFile extends SqlDatabase {
  /** What broke it for good, if anything did. */
  failure(): Error | null
  /** Throws `LedgerUnavailable` if the file was removed or replaced under us. */
  assertSameFile(): void
  isThere(): boolean
  /** `false` if another process reads or writes just now. */
  emptyLog(): boolean
}

export interface FileOptions {
  /** Makes what tables it lacks. Under no lock, and within no transaction. */
  setUp: (connection: Connection) => void
  /** Whether a change is on the disk when it resolves. Others outlive the process alone. */
  isFlushed: boolean
}

interface Prepared {
  query: StatementSync
  /** Whether it returns rows. */
  isReader: boolean
}

/** Before it, two processes could corrupt the file (https://www.sqlite.org/wal.html, "The WAL-Reset Bug"). */
const OLDEST_SOUND_SQLITE = [3, 51, 3]

const OPEN_PAUSE_MS = 20

const READ_PAUSE_MS = 2

/** Other processes read and write in moments. If none of these finds a gap, the log is cut the next time. */
const WIPE_ATTEMPTS = 20
const WIPE_PAUSE_MS = 10

/** Statements that are kept prepared. The ledger has some forty; lists of changing length make more. */
const MAX_PREPARED = 200

/** Waits for processes that open or change the file just now. `mends`: whether what failed may work now. */
export async function openWaiting<T>(open: () => T, timeoutMs: number, mends = () => false): Promise<T> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    try {
      return open()
    } catch (error) {
      if (mends()) continue
      // When several open a new file at once, SQLite lets one change to a log, and the others do not wait for it.
      if (!hasCode((error as Error).cause, BUSY) || performance.now() > deadline) throw error
      await sleep(OPEN_PAUSE_MS)
    }
  }
}

/** After a failure of the disk. Throws as long as it fails. */
export function openAgain(file: string, timeoutMs: number, options: FileOptions): SqliteFile {
  if (!existsSync(file)) {
    throw new LedgerUnavailable({ cause: new Error(`${file} was removed; restart after putting it back`) })
  }
  const database = openDatabase(file, timeoutMs, options)
  try {
    if (database.emptyLog()) return database
    throw new LedgerUnavailable({ cause: new Error('another process reads the log that failed') })
  } catch (error) {
    database.close().catch(() => {})
    throw error
  }
}

/** Opens the file, or makes it. */
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
  const isThere = oncePerTick(() => identityOf(file) === identity)

  /** A file that was removed or replaced under us would take changes and lose them with the last process. */
  function assertSameFile(): void {
    if (!isThere()) {
      throw new LedgerUnavailable({
        cause: new Error(`${file} was removed or replaced; restart after putting it back`),
      })
    }
  }

  /**
   * Puts on the disk what was committed before the call: SQLite's own flush would block the event loop. In WAL mode a
   * transaction is durable when the frames up to its commit are on the disk (https://www.sqlite.org/walformat.html,
   * "Recovery"), whoever puts them there. The log stays the same file as long as one connection is. SQLite locks the database
   * and its shared memory, never the log, so closing its descriptor drops no lock (https://www.sqlite.org/lockingv3.html,
   * "POSIX advisory locks").
   */
  async function flushLog(): Promise<void> {
    // A flush that failed once has lost what it could not write: a second one that succeeds proves nothing.
    if (failure !== null) throw failure
    await new Promise<void>((resolve, reject) => {
      fdatasync(log, (error) => {
        failure ??= error
        if (error) reject(error)
        else resolve()
      })
    })
  }

  function remember(error: unknown): never {
    if (hasCode(error, FLUSH)) failure ??= error as Error
    return rethrow(error)
  }

  function assertOpen(): void {
    if (closing) throw new LedgerUnavailable({ cause: new Error('the ledger is closed') })
  }

  function run({ sql, parameters }: Statement): Outcome {
    const { query, isReader } = prepare(sql)
    if (!isReader) return { rows: [], changes: Number(query.run(...parameters).changes) }
    const rows = query.all(...parameters) as Outcome['rows']
    return { rows, changes: rows.length }
  }

  function prepare(sql: string): Prepared {
    let known = prepared.get(sql)
    if (!known) {
      if (prepared.size >= MAX_PREPARED) prepared.clear()
      const query = connection.prepare(sql)
      known = { query, isReader: query.columns().length > 0 }
      prepared.set(sql, known)
    }
    return known
  }

  return {
    dialect: sqliteDialect,
    failure: () => failure,
    emptyLog: () => passing(() => cutLog(connection)),
    assertSameFile,
    isThere,

    async read(statement) {
      assertOpen()
      assertSameFile()
      // Readers wait for nobody, but for one who opens or mends the log.
      const deadline = performance.now() + timeoutMs
      for (;;) {
        try {
          return run(statement).rows as never
        } catch (error) {
          if (!hasCode(error, BUSY) || performance.now() > deadline) return remember(error)
          await sleep(READ_PAUSE_MS)
        }
      }
    },

    async write(statements, isLazy) {
      assertOpen()
      return commits.submit(() => statements.map(run), isLazy).catch(remember)
    },

    async wipe() {
      // What was deleted stays in the log until it is cut.
      for (let attempt = 0; attempt < WIPE_ATTEMPTS && !closing; attempt++) {
        if (passing(() => cutLog(connection))) return
        await sleep(WIPE_PAUSE_MS)
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
  return passing(() => {
    mkdirSync(dirname(file), { recursive: true })
    // SQLite gives its log the same mode. With the salt, addresses can be tested against the buckets.
    closeSync(openSync(file, 'a', 0o600))
    const connection = new DatabaseSync(file, { timeout: timeoutMs })
    try {
      assertSound(connection)
      configure(connection, timeoutMs)
      setUp(connection)
      // From here on a lock of another process is waited for beside the event loop: SQLite would sleep.
      connection.exec('pragma busy_timeout = 0')
      // SQLite allocates 64 KiB for each statement journal that may spill to a temporary file, 1 KiB for one in memory.
      // After the migrations, whose sorts may need more than memory.
      connection.exec('pragma temp_store = memory')
      return connection
    } catch (error) {
      connection.close()
      throw error
    }
  })
}

function assertSound(connection: Connection): void {
  const { version } = connection.prepare('select sqlite_version() as version').get() as { version: string }
  const order = version.localeCompare(OLDEST_SOUND_SQLITE.join('.'), 'en', { numeric: true })
  if (order < 0) throw new Error(`SQLite ${version} is too old: ${OLDEST_SOUND_SQLITE.join('.')} is needed`)
}

/**
 * Every connection, explicitly. `synchronous=normal` flushes nothing at a commit, but everything around a checkpoint
 * (https://www.sqlite.org/pragma.html#pragma_synchronous): the flush of a commit is `flushLog`'s, which does not
 * hold up the event loop.
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
  // Some take effect at the first access only.
  connection.prepare('select count(*) from sqlite_schema').get()
  for (const [name, , expected] of settings) {
    const actual = pragma(connection, name)
    if (actual !== expected) throw new Error(`SQLite keeps ${name} at ${actual}, not ${expected}`)
  }
}

/** `false` if another process reads or writes just now. */
export function cutLog(connection: Connection): boolean {
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
