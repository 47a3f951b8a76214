/** Copies a configuration's ledger to bytes, and restores it from them. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Config } from '../../config.ts'
import { openFolderFiles } from '../../stores/filesystem/files.ts'
import { type Ledger, LedgerUnavailable } from '../../stores/ledger.ts'
import { assertNoServer } from '../open/agreement.ts'
import { openExistingLedger, openLedger } from '../open/stores.ts'

export type LedgerKind = 'sqlite' | 'postgres'

/** A gzipped, consistent snapshot. Servers keep running meanwhile. */
export async function copyLedger(config: Config): Promise<{ kind: LedgerKind; bytes: Uint8Array }> {
  if (config.ledgerUrl !== null) {
    const { snapshotPostgres } = await import('../../stores/postgres/snapshot.ts')
    const chunks: Buffer[] = []
    await snapshotPostgres(config.ledgerUrl, async (text) => void chunks.push(gzipSync(text)))
    return { kind: 'postgres', bytes: Buffer.concat(chunks) }
  }
  const { snapshotSqlite } = await import('../../stores/sqlite/snapshot.ts')
  return withTemporaryFile(async (copy) => {
    await snapshotSqlite(join(config.dataDir, 'ledger.sqlite'), copy)
    return { kind: 'sqlite', bytes: gzipSync(await readFile(copy)) }
  })
}

async function withTemporaryFile<T>(work: (file: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'pinhole-ledger-'))
  try {
    return await work(join(folder, 'ledger.sqlite'))
  } finally {
    await rm(folder, { recursive: true })
  }
}

/**
 * Whether a ledger exists and has any audit entry, deletion, hold or report. A freshly created one has none. Throws an `Error`
 * if a server is using it, on SQLite.
 */
export async function hasLedger(config: Config): Promise<boolean> {
  const ledger = await openExistingLedger(config).catch((error) => {
    if (error instanceof LedgerUnavailable) throw error
    throw new Error(`the existing ledger can’t be read; to replace it, ${aside(config)}`, { cause: error })
  })
  if (ledger === null) return false
  try {
    if (config.ledgerUrl === null) await assertNoServer(ledger)
    const histories = await Promise.all([
      ledger.auditLog(1),
      ledger.removedIds('', 1),
      ledger.heldIds(1),
      ledger.cases(['open'], 1),
    ])
    return histories.some((entries) => entries.length > 0)
  } finally {
    await ledger.close()
  }
}

function aside({ ledgerUrl }: Config): string {
  return ledgerUrl === null ? 'move ledger.sqlite out of DATA_DIR' : 'set LEDGER_URL to an empty schema'
}

/** Ledger facts that let a restore tell whether a ledger is the backup's own, and newer. */
const INSTANCE = 'backup.instance'
const LAST = 'backup.last'

/** Records the backup's start in the ledger, so that its copy can be matched with it later. Returns the instance's ID. */
export async function markBackup(
  ledger: Pick<Ledger, 'facts' | 'writeFacts'>,
  begunAt: string,
): Promise<string | undefined> {
  try {
    await ledger.writeFacts({ [INSTANCE]: crypto.randomUUID() }, { replace: false })
    return (await ledger.writeFacts({ [LAST]: begunAt }, { replace: true }))[INSTANCE]
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error
    // A full disk must not prevent a backup. A restore next to this ledger then asks the operator.
    return (await ledger.facts())[INSTANCE]
  }
}

/**
 * Throws an `Error` unless the ledger is the one that was backed up, at that moment or later. A server started on a new machine
 * creates a fresh ledger, which knows none of the backup's holds and blocks.
 */
export async function assertNewer(
  config: Config,
  { begunAt, instance }: { begunAt: string; instance?: string },
): Promise<void> {
  const ledger = await openLedger(config, true)
  const facts = await ledger.facts().finally(ledger.close)
  const isSame = instance !== undefined && facts[INSTANCE] === instance
  if (isSame && (facts[LAST] ?? '') >= begunAt) return
  throw new Error(
    `the existing ledger is ${isSame ? 'older than the backup’s' : 'not known to be the backup’s'}. ` +
      `To restore the backup’s ledger, ${aside(config)} and run restore again. To keep the existing one: --keep-ledger`,
  )
}

/** Throws an `Error` if the ledger of another backup, `name`, is in place, because its restore was interrupted. */
export async function assertNotWritten(config: Config, name: string): Promise<void> {
  if (!(await hasLedger(config))) return
  throw new Error(
    `the restore of another backup, ${name}, was interrupted: finish it with --name. ` +
      `To restore this one instead, ${aside(config)} and run restore again`,
  )
}

/** Writes the backup's ledger if there is none, or resumes an interrupted attempt. One from SQLite may move to Postgres. */
export async function writeLedger(config: Config, kind: LedgerKind, bytes: Uint8Array): Promise<void> {
  const { ledgerUrl } = config
  if (ledgerUrl === null) {
    if (await hasLedger(config)) return
    const files = openFolderFiles(config.dataDir)
    // SQLite would replay another ledger's write-ahead log into this one.
    for (const name of ['ledger.sqlite', 'ledger.sqlite-wal', 'ledger.sqlite-shm']) await files.remove(name)
    await files.write('ledger.sqlite', gunzipSync(bytes))
    return
  }
  const { openPostgresLedger } = await import('../../stores/postgres/ledger.ts')
  const { restorePostgres } = await import('../../stores/postgres/snapshot.ts')
  // Creates the tables.
  await (await openPostgresLedger({ url: ledgerUrl })).close()
  if (kind === 'postgres') return restorePostgres(ledgerUrl, linesOf(gunzipSync(bytes)))
  const { openSqliteLedger } = await import('../../stores/sqlite/ledger.ts')
  const { linesOfSnapshot } = await import('../../stores/sqlite/snapshot.ts')
  await withTemporaryFile(async (file) => {
    await writeFile(file, gunzipSync(bytes))
    // Migrates it, if an older version wrote it.
    await (await openSqliteLedger({ file })).close()
    await restorePostgres(ledgerUrl, linesOfSnapshot(file))
  })
}

/** Each line ends with a newline. Decoded one by one, as a large ledger would not fit in one string. */
function* linesOf(text: Buffer): Generator<string> {
  let start = 0
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
    yield text.toString('utf8', start, end)
    start = end + 1
  }
}
