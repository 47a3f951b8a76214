/** The ledger of a configuration, as bytes and back. */
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, open, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Config } from '../../config.ts'

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

/** `false`: there is a ledger already, and it stays. */
export async function putLedger(config: Config, kind: LedgerKind, bytes: Uint8Array): Promise<boolean> {
  const wanted: LedgerKind = config.ledgerUrl === null ? 'sqlite' : 'postgres'
  if (kind !== wanted)
    throw new Error(`the backup has a ledger of ${kind}; LEDGER_URL names one of ${wanted}`)
  if (config.ledgerUrl !== null) {
    const { openPostgresLedger } = await import('../../stores/postgres/ledger.ts')
    const { restorePostgres } = await import('../../stores/postgres/snapshot.ts')
    const isThere = await openPostgresLedger({ url: config.ledgerUrl, mustExist: true }).then(
      (ledger) => ledger.close().then(() => true),
      () => false,
    )
    if (isThere) return false
    // Makes the tables.
    await (await openPostgresLedger({ url: config.ledgerUrl })).close()
    await restorePostgres(config.ledgerUrl, gunzipSync(bytes).toString('utf8').split('\n'))
    return true
  }
  const file = join(config.dataDir, 'ledger.sqlite')
  if (existsSync(file)) return false
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 })
  {
    await using handle = await open(`${file}.part`, 'w', 0o600)
    await handle.writeFile(gunzipSync(bytes))
    await handle.sync()
  }
  await rename(`${file}.part`, file)
  return true
}
