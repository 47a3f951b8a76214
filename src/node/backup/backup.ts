/** Backups: an image store that grows incrementally, with ledger snapshots and manifests beside it. */
import { existsSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config } from '../../config.ts'
import { recordRetired, removeGone } from '../../service/recovery/reconcile.ts'
import { type Transfer, transferImages, unexpired } from '../../service/recovery/transfer.ts'
import { parseS3Url } from '../../stores/s3/url.ts'
import { copyEvidence, openBackupFiles, openEvidenceFiles } from '../open/files.ts'
import { dataFolderOf, openImages, type Stores } from '../open/stores.ts'
import { copyLedger, markBackup } from './ledger.ts'
import { type Manifest, nameOf, sha256Of } from './manifest.ts'

export interface BackupResult {
  name: string
  manifest: Manifest
  transfer: Transfer
  /** Images deleted since the last backup, and now removed from it. */
  removed: number
}

/** `to`: `file:` and a folder, or `s3://…`. Servers keep running meanwhile. */
export async function backUp(options: {
  config: Config
  stores: Pick<Stores, 'objects' | 'ledger'> & { clock: Pick<Stores['clock'], 'now'> }
  to: string
  bytesPerSecond: number | null
  onProgress: (transfer: Transfer) => void
}): Promise<BackupResult> {
  const { config, stores, to, bytesPerSecond, onProgress } = options
  assertElsewhere(to, config)
  const begunAt = new Date()
  const name = nameOf(begunAt)
  const files = await openBackupFiles(to, config)
  const target = await openImages(to, config)
  try {
    const instance = await markBackup(stores.ledger, begunAt.toISOString())
    const transfer = await transferImages({
      from: unexpired(stores.objects, stores.clock.now),
      to: target,
      bytesPerSecond,
      onProgress,
    })
    await copyEvidence(await openEvidenceFiles(config), await openEvidenceFiles(config, to))
    await recordRetired(stores.ledger, stores.objects, target, stores.clock.now)
    // After the images: the snapshot includes removals made during the copy, so removed images don't come back.
    const ledger = await copyLedger(config)
    const removed = await removeGone(stores.ledger, target)
    const ids = await Array.fromAsync(target.list())
    const list = Buffer.from(ids.map((id) => `${id}\n`).join(''))
    await files.make()
    const ledgerFile = `${name}-ledger.${ledger.kind === 'sqlite' ? 'sqlite' : 'jsonl'}.gz`
    await files.write(ledgerFile, ledger.bytes)
    await files.write(`${name}-images.txt`, list)
    const manifest: Manifest = {
      begunAt: begunAt.toISOString(),
      images: ids.length,
      ...(instance !== undefined && { instance }),
      list: { file: `${name}-images.txt`, sha256: sha256Of(list) },
      ledger: { file: ledgerFile, sha256: sha256Of(ledger.bytes), kind: ledger.kind },
    }
    await files.write(`${name}.json`, Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`))
    return { name, manifest, transfer, removed: removed.length }
  } finally {
    await target.close()
    await files.close()
  }
}

/**
 * Throws if `to` is the location of the data, where every image would count as already copied, or in the folder of images, where
 * `verify --repair` would move the backup away.
 */
function assertElsewhere(to: string, config: Config): void {
  const folder = dataFolderOf(to, config)
  const dataDir = realPath(config.dataDir)
  const isSame =
    folder === null
      ? config.objectsUrl !== null && addressOf(to, config) === addressOf(config.objectsUrl, config)
      : realPath(folder) === dataDir || `${realPath(folder)}/`.startsWith(`${dataDir}/images/`)
  if (isSame) throw new Error('this is the location of the data itself: a backup there would be lost with it')
}

/** An S3 location, however its URL spells it. */
function addressOf(url: string, { awsRegion }: Config): string {
  const { endpoint, bucket, prefix } = parseS3Url(url, awsRegion ?? undefined)
  return `${endpoint}/${bucket}/${prefix}`
}

function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : resolve(path)
}
