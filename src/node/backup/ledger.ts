/** The ledger of a configuration, as bytes and back. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Config } from '../../config.ts'
import { openFolderFiles } from '../../stores/filesystem/files.ts'
import { type Ledger, LedgerUnavailable } from '../../stores/ledger.ts'
import { openLedger } from '../open/stores.ts'

export type LedgerKind = 'sqlite' | 'postgres'

/** Packed: as it was at one moment, while servers go on. */
export async function copyLedger(config: Config): Promise<{ kind: LedgerKind; bytes: Uint8Array }> {
  if (config.ledgerUrl !== null) {
    const { snapshotPostgres } = await import('../../stores/postgres/snapshot.ts')
    const pieces: Buffer[] = []
    await snapshotPostgres(config.ledgerUrl, async (text) => void pieces.push(gzipSync(text)))
    return { kind: 'postgres', bytes: Buffer.concat(pieces) }
  }
  const { snapshotSqlite } = await import('../../stores/sqlite/snapshot.ts')
  const folder = await mkdtemp(join(tmpdir(), 'pinhole-ledger-'))
  try {
    const copy = join(folder, 'ledger.sqlite')
    await snapshotSqlite(join(config.dataDir, 'ledger.sqlite'), copy)
    return { kind: 'sqlite', bytes: gzipSync(await readFile(copy)) }
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Whether there is one that knows of any act, report or deletion. One that a server made a moment ago does not. */
export async function hasLedger(config: Config): Promise<boolean> {
  const ledger = await openLedger(config, true).catch((error) => {
    if (error instanceof LedgerUnavailable) throw error
    return null
  })
  if (ledger === null) return false
  try {
    const known = await Promise.all([
      ledger.auditLog(1),
      ledger.goneIds('', 1),
      ledger.heldIds(1),
      ledger.cases(['open'], 1),
    ])
    return known.some((found) => found.length > 0)
  } finally {
    await ledger.close()
  }
}

/** The facts by which a restore tells whether a ledger is the backup's own, and newer. */
const INSTANCE = 'backup.instance'
const LAST = 'backup.last'

/** Tells the ledger that a backup began, so that its copy and the ledger know of each other. The name of the instance. */
export async function markBackup(
  ledger: Pick<Ledger, 'facts' | 'writeFacts'>,
  begunAt: string,
): Promise<string | undefined> {
  try {
    await ledger.writeFacts({ [INSTANCE]: crypto.randomUUID() }, { replace: false })
    return (await ledger.writeFacts({ [LAST]: begunAt }, { replace: true }))[INSTANCE]
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error
    // A full disk must not keep anybody from a backup. A restore beside this ledger then asks.
    return (await ledger.facts())[INSTANCE]
  }
}

/**
 * Throws an `Error` unless the ledger is the one that the backup was made of, as it was then or later: a server that was
 * started on a new machine made another, which knows nothing of what the backup's holds and blocks.
 */
export async function assertNewer(
  config: Config,
  { begunAt, instance }: { begunAt: string; instance?: string },
): Promise<void> {
  const ledger = await openLedger(config, true)
  const facts = await ledger.facts().finally(ledger.close)
  const isSame = instance !== undefined && facts[INSTANCE] === instance
  if (isSame && (facts[LAST] ?? '') >= begunAt) return
  const other =
    config.ledgerUrl === null ? 'move ledger.sqlite out of DATA_DIR' : 'name an empty schema in LEDGER_URL'
  throw new Error(
    `the ledger that is here is ${isSame ? 'older than the backup’s' : 'not known to be the backup’s'}. ` +
      `To restore the backup’s: ${other} and begin again. To keep this one all the same: --keep-ledger`,
  )
}

/** Puts it where there is none, or goes on where that was interrupted. */
export async function putLedger(config: Config, kind: LedgerKind, bytes: Uint8Array): Promise<void> {
  const wanted: LedgerKind = config.ledgerUrl === null ? 'sqlite' : 'postgres'
  if (kind !== wanted)
    throw new Error(`the backup has a ledger of ${kind}; LEDGER_URL names one of ${wanted}`)
  if (config.ledgerUrl === null) {
    if (await hasLedger(config)) return
    const files = openFolderFiles(config.dataDir)
    // A log of another ledger would be taken for this one's.
    for (const name of ['ledger.sqlite', 'ledger.sqlite-wal', 'ledger.sqlite-shm']) await files.remove(name)
    await files.write('ledger.sqlite', gunzipSync(bytes))
    return
  }
  const { openPostgresLedger } = await import('../../stores/postgres/ledger.ts')
  const { restorePostgres } = await import('../../stores/postgres/snapshot.ts')
  // Makes the tables.
  await (await openPostgresLedger({ url: config.ledgerUrl })).close()
  await restorePostgres(config.ledgerUrl, gunzipSync(bytes).toString('utf8').split('\n'))
}
