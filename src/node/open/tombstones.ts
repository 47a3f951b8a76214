/** Opens the second location for deletions and decisions, if one is configured. */
import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Config } from '../../config.ts'
import type { Log } from '../../http/log.ts'
import { createTombstones, NO_TOMBSTONES, type Tombstones } from '../../service/recovery/tombstones.ts'
import type { Ledger } from '../../stores/ledger.ts'
import type { ObjectStore } from '../../stores/object-store.ts'
import { nodeHashes } from '../hashes.ts'
import { openTombstoneFiles } from './files.ts'

/** A command records tombstones like a server does, and leaves writing them to the servers. */
export async function openTombstones(parts: {
  config: Config
  log: Log
  ledger: Ledger
  objects: ObjectStore
  now: () => number
  as: 'server' | 'command'
}): Promise<Tombstones> {
  const { config, log, ledger, objects, now } = parts
  const { tombstonesUrl: url } = config
  const isServer = parts.as === 'server'
  const location = url === null ? null : withoutQuery(url)
  const isNew = isServer && (await ledger.setTombstoneLocation(location, now()))
  const files = await openTombstoneFiles(config)
  if (files === null || location === null) return NO_TOMBSTONES
  if (isServer && url?.startsWith('file:')) await warnOfSameDisk(url.slice('file:'.length), config, log)
  const tombstones = createTombstones({
    ledger,
    objects,
    files,
    hashes: nodeHashes,
    location,
    isNew,
    now,
    onFailure: (err) => log.warn({ err }, 'tombstones could not be written; retrying'),
    onRecovery: () => log.info({}, 'tombstones are written again'),
  })
  return {
    ...tombstones,
    async stop() {
      await tombstones.stop()
      await files.close()
    },
  }
}

/** A copy on the same disk would be lost together with the original. */
async function warnOfSameDisk(folder: string, { dataDir }: Config, log: Log): Promise<void> {
  const deviceOf = async (path: string) => (await stat(path).catch(() => null))?.dev
  const device = (await deviceOf(folder)) ?? (await deviceOf(dirname(folder)))
  if (device !== undefined && device === (await deviceOf(dataDir))) {
    log.warn({ folder }, 'TOMBSTONES_URL is on the disk of DATA_DIR: both would be lost together')
  }
}

/** Identifies a location independently of how its endpoint is spelled. */
export function withoutQuery(url: string): string {
  return url.replace(/\?.*/, '')
}
