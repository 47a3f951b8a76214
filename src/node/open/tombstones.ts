/** Opens the second location for deletions and decisions, if one is configured. */
import type { Config } from '../../config.ts'
import type { Log } from '../../http/log.ts'
import { createTombstones, NO_TOMBSTONES, type Tombstones } from '../../service/recovery/tombstones.ts'
import type { Ledger } from '../../stores/ledger.ts'
import type { ObjectStore } from '../../stores/object-store.ts'
import { nodeHashes } from '../hashes.ts'
import { isOnDisk } from './data-folder.ts'
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
  const folder = isServer && url?.startsWith('file:') ? url.slice('file:'.length) : null
  if (folder !== null && (await isOnDisk(folder, config)))
    log.warn({ folder }, 'TOMBSTONES_URL is on the disk of DATA_DIR: both would be lost together')
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

/** Identifies a location independently of how its endpoint is spelled. */
export function withoutQuery(url: string): string {
  return url.replace(/\?.*/, '')
}
