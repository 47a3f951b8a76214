/** Opens what the configuration names. The only place that knows which adapters there are. */
import { createHash } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Cdn } from '../cdn/cdn.ts'
import type { Config } from '../config.ts'
import type { Log } from '../http/log.ts'
import { createPurges, NO_PURGES, type Purges } from '../service/purges.ts'
import { createSpool } from '../stores/drafts/spool.ts'
import { type FilesystemStore, openFilesystemStore } from '../stores/filesystem/store.ts'
import type { Ledger } from '../stores/ledger.ts'
import type { ObjectStore } from '../stores/object-store.ts'
import { openCdn } from './open-cdn.ts'

export interface Stores {
  objects: ObjectStore
  /** Set if images are in a folder. */
  filesystem: FilesystemStore | null
  ledger: Ledger
  cdn: Cdn | null
  purges: Purges
  close(): Promise<void>
}

export async function openStores(config: Config, log: Log): Promise<Stores> {
  await mkdir(config.dataDir, { recursive: true }).catch((cause) => {
    throw new Error(`DATA_DIR=${config.dataDir} can not be made`, { cause })
  })
  const ledger = await openLedger(config)
  const filesystem = config.objectsUrl === null ? await openFolder(config) : null
  const objects = filesystem ?? (await openBucket(config, config.objectsUrl!))
  const cdn = config.cdnUrl === null ? null : openCdn(config.cdnUrl)
  const purges = cdn === null ? NO_PURGES : createPurges({ ledger, cdn, now: Date.now, onFailure })

  function onFailure(error: unknown, ids: string[]): void {
    log.warn({ err: error, ids }, 'a purge failed and will be tried again')
  }

  async function close(): Promise<void> {
    await purges.stop()
    await objects.close()
    await ledger.close()
  }

  return { objects, filesystem, ledger, cdn, purges, close }
}

/** Where drafts are kept that are too large for memory. */
export function draftFolder(config: Config): string {
  return join(config.dataDir, config.objectsUrl === null ? 'images/incoming' : 'incoming')
}

function openFolder(config: Config): Promise<FilesystemStore> {
  return openFilesystemStore({ folder: join(config.dataDir, 'images'), hotSetBytes: config.hotSetBytes })
}

async function openBucket(config: Config, url: string): Promise<ObjectStore> {
  const { openS3Store } = await import('../stores/s3/store.ts')
  const { awsAccessKeyId, awsSecretAccessKey, awsSessionToken, awsRegion } = config
  if (awsAccessKeyId === null || awsSecretAccessKey === null) {
    throw new Error('OBJECTS_URL needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY')
  }
  await mkdir(draftFolder(config), { recursive: true })
  return openS3Store({
    url,
    accessKeyId: awsAccessKeyId,
    secretAccessKey: awsSecretAccessKey,
    ...(awsSessionToken === null ? {} : { sessionToken: awsSessionToken }),
    ...(awsRegion === null ? {} : { region: awsRegion }),
    spool: createSpool(draftFolder(config)),
    hasher: runningSha256,
  })
}

async function openLedger(config: Config): Promise<Ledger> {
  if (config.ledgerUrl !== null) {
    const { openPostgresLedger } = await import('../stores/postgres/ledger.ts')
    return openPostgresLedger({ url: config.ledgerUrl })
  }
  const { openSqliteLedger } = await import('../stores/sqlite/ledger.ts')
  return openSqliteLedger({ file: join(config.dataDir, 'ledger.sqlite') })
}

function runningSha256() {
  const hash = createHash('sha256')
  return { update: (bytes: Uint8Array) => hash.update(bytes), digest: () => hash.digest('hex') }
}
