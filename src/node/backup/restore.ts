/** A backup onto a machine that has nothing, or a ledger alone. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import type { Log } from '../../http/log.ts'
import { renewIdentities } from '../../service/identities.ts'
import { holdAsDecided, removeGone } from '../../service/reconcile.ts'
import { type Transfer, transferImages } from '../../service/transfer.ts'
import { agree } from '../open/agreement.ts'
import { RESTORING } from '../open/data-folder.ts'
import { openBackupFiles } from '../open/files.ts'
import { openImages, openStores } from '../open/stores.ts'
import { putLedger } from './ledger.ts'
import { type Manifest, readChecked, readManifest } from './manifest.ts'

export interface RestoreResult {
  manifest: Manifest
  transfer: Transfer
  /** The ledger that was there is newer than the backup, and stays. */
  keptLedger: boolean
  /** Removed or deleted after the backup was made. */
  gone: string[]
  /** In the backup's list, and in its images no more. */
  missing: string[]
}

/** `name`: of one of several backups; else the newest. May be killed and begun again: no server starts in between. */
export async function restore(options: {
  config: Config
  log: Log
  from: string
  name: string | undefined
  onProgress: (transfer: Transfer) => void
}): Promise<RestoreResult> {
  const { config, log, from, name, onProgress } = options
  const files = await openBackupFiles(from, config)
  const manifest = await readManifest(files, name)
  const list = Buffer.from(await readChecked(files, manifest.list)).toString('utf8')
  const ledger = await readChecked(files, manifest.ledger)
  await mkdir(config.objectsUrl === null ? join(config.dataDir, 'images', 'objects') : config.dataDir, {
    recursive: true,
  })
  const mark = join(config.dataDir, RESTORING)
  await writeFile(mark, `${manifest.begunAt}\n`)
  const keptLedger = !(await putLedger(config, manifest.ledger.kind, ledger))
  const source = await openImages(from, config, log)
  const stores = await openStores(config, log, { as: 'command', mayDisagree: true, isRestoring: true })
  try {
    const transfer = await transferImages({
      from: source,
      to: stores.objects,
      bytesPerSecond: null,
      onProgress,
    })
    const gone = await removeGone(stores.ledger, stores.objects)
    await holdAsDecided(stores.ledger, stores.objects)
    // What was given and deleted after the backup is known to nobody here.
    await renewIdentities(stores.ledger)
    // The folder is another one than the ledger knew.
    await agree(stores.ledger, stores.settings)
    const absent = new Set([...gone, ...transfer.damaged])
    const missing: string[] = []
    for (const id of list.split('\n')) {
      if (id === '' || absent.has(id)) continue
      const found = await stores.objects.headDurable(id)
      // Deleted while the ledger was away: the store alone knew, and did not take it back.
      if (found === 'retired') gone.push(id)
      else if (found === null && (await stores.objects.headHeld(id)) === null) missing.push(id)
    }
    await rm(mark)
    return { manifest, transfer, keptLedger, gone, missing }
  } finally {
    await stores.close()
    await source.close()
    await files.close()
  }
}
