/** The ledger of a configuration, as bytes and back. */
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Config } from '../../config.ts'
import { openFolderFiles } from '../../stores/filesystem/files.ts'

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

export async function hasLedger(config: Config): Promise<boolean> {
  if (config.ledgerUrl === null) return existsSync(join(config.dataDir, 'ledger.sqlite'))
  const { openPostgresLedger } = await import('../../stores/postgres/ledger.ts')
  return openPostgresLedger({ url: config.ledgerUrl, mustExist: true }).then(
    (ledger) => ledger.close().then(() => true),
    () => false,
  )
}

/** Puts it where there is none, or goes on where that was interrupted. */
export async function putLedger(config: Config, kind: LedgerKind, bytes: Uint8Array): Promise<void> {
  const wanted: LedgerKind = config.ledgerUrl === null ? 'sqlite' : 'postgres'
  if (kind !== wanted)
    throw new Error(`the backup has a ledger of ${kind}; LEDGER_URL names one of ${wanted}`)
  if (config.ledgerUrl === null) {
    if (await hasLedger(config)) return
    await openFolderFiles(config.dataDir).write('ledger.sqlite', gunzipSync(bytes))
    return
  }
  const { openPostgresLedger } = await import('../../stores/postgres/ledger.ts')
  const { restorePostgres } = await import('../../stores/postgres/snapshot.ts')
  // Makes the tables.
  await (await openPostgresLedger({ url: config.ledgerUrl })).close()
  await restorePostgres(config.ledgerUrl, gunzipSync(bytes).toString('utf8').split('\n'))
}
