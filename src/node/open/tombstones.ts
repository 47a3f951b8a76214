/** The second place of deletions and decisions, where the configuration names one. */
import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Config } from '../../config.ts'
import type { Log } from '../../http/log.ts'
import { createTombstones, NO_TOMBSTONES, type Tombstones } from '../../service/recovery/tombstones.ts'
import type { Ledger } from '../../stores/ledger.ts'
import type { ObjectStore } from '../../stores/object-store.ts'
import { nodeHashes } from '../hashes.ts'
import { openTombstoneFiles } from './files.ts'

/** A command leaves tombstones as a server does, for servers to write. */
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
  const place = url === null ? null : withoutQuery(url)
  const isNew = isServer && (await ledger.keepTombstones(place, now()))
  const files = await openTombstoneFiles(config)
  if (files === null || place === null) return NO_TOMBSTONES
  if (isServer && url?.startsWith('file:')) await warnOfSameDisk(url.slice('file:'.length), config, log)
  const tombstones = createTombstones({
    ledger,
    objects,
    files,
    hashes: nodeHashes,
    place,
    isNew,
    now,
    onFailure: (err) => log.warn({ err }, 'tombstones could not be written and will be tried again'),
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

/** It would be lost with the disk that it is there for. */
async function warnOfSameDisk(folder: string, { dataDir }: Config, log: Log): Promise<void> {
  const deviceOf = (path: string) =>
    stat(path).then(
      ({ dev }) => dev,
      () => null,
    )
  const device = (await deviceOf(folder)) ?? (await deviceOf(dirname(folder)))
  if (device !== null && device === (await deviceOf(dataDir))) {
    log.warn({ folder }, 'TOMBSTONES_URL is on the disk of DATA_DIR: both would be lost together')
  }
}

/** A place is the same whatever its endpoint's spelling. */
export function withoutQuery(url: string): string {
  return url.replace(/\?.*/, '')
}
