/** Opens the configured stores. The only module that knows which adapters exist. */
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Cdn } from '../../cdn/cdn.ts'
import type { Config } from '../../config.ts'
import type { Log } from '../../http/log.ts'
import { type Clock, createClock } from '../../service/clock.ts'
import type { Purges } from '../../service/images/purges.ts'
import type { Moves } from '../../service/moderation/moves.ts'
import type { Tombstones } from '../../service/recovery/tombstones.ts'
import { createSpool } from '../../stores/drafts/spool.ts'
import { makePrivate } from '../../stores/filesystem/layout.ts'
import { type FilesystemStore, openFilesystemStore } from '../../stores/filesystem/store.ts'
import { type Ledger, NoLedger } from '../../stores/ledger.ts'
import type { ObjectStore } from '../../stores/object-store.ts'
import { wireMoves } from '../../wiring/moderation.ts'
import { wirePurges } from '../../wiring/uploads.ts'
import { type Agreement, agreementOf, assertAgreed, isUnused, joinServers } from './agreement.ts'
import { openCdn } from './cdn.ts'
import { assertData, assertRestored } from './data-folder.ts'
import { s3Options } from './files.ts'
import { openTombstones } from './tombstones.ts'

export interface Stores {
  objects: ObjectStore
  /** `null` if images are not in a folder. */
  filesystem: FilesystemStore | null
  ledger: Ledger
  cdn: Cdn | null
  clock: Clock
  agreement: Agreement
  purges: Purges
  moves: Moves
  tombstones: Tombstones
  close(): Promise<void>
}

export interface OpenOptions {
  /** A server creates missing data and joins the other servers; a command requires existing data. */
  as: 'server' | 'command'
  /** This machine's clock, epoch milliseconds. */
  now?: () => number
  /** For the command that changes the agreed settings. */
  mayDisagree?: boolean
  /** For commands that end a restore. */
  isRestoring?: boolean
}

export async function openStores(config: Config, log: Log, options: OpenOptions): Promise<Stores> {
  const isCommand = options.as === 'command'
  if (!options.isRestoring) assertRestored(config)
  if (isCommand) assertData(config)
  else {
    await makePrivate(config.dataDir).catch((cause) => {
      throw new Error(`DATA_DIR=${config.dataDir} cannot be created`, { cause })
    })
  }
  const ledger = await openLedger(config, isCommand)
  try {
    return await openWithLedger(ledger, config, log, options)
  } catch (error) {
    await ledger.close()
    throw error
  }
}

async function openWithLedger(
  ledger: Ledger,
  config: Config,
  log: Log,
  { as, now = Date.now, mayDisagree = false }: OpenOptions,
): Promise<Stores> {
  const filesystem = config.objectsUrl === null ? await openFolder(config) : null
  const objects = filesystem ?? (await openBucket(config, config.objectsUrl!, as))
  const cdn = config.cdnUrl === null ? null : openCdn(config.cdnUrl, config.baseUrl)
  const agreement = agreementOf(config, filesystem?.identity ?? null)
  if (as === 'server') {
    if (await isUnused(ledger)) await warnOfImages(objects, log)
    await joinServers(ledger, agreement)
  } else if (!mayDisagree) await assertAgreed(ledger, agreement)
  const clock = await createClock(ledger, now)
  const purges = wirePurges(cdn, { ledger, now: clock.now, log })
  const moves = wireMoves({ objects, ledger, purges, now: clock.now, log })
  const tombstones = await openTombstones({ config, log, ledger, objects, now: clock.now, as })

  async function close(): Promise<void> {
    await tombstones.stop()
    await moves.stop()
    await purges.stop()
    await clock.stop()
    await objects.close()
    await ledger.close()
  }

  return { objects, filesystem, ledger, cdn, clock, agreement, purges, moves, tombstones, close }
}

/**
 * Warns if the store has images although the ledger is new: `LEDGER_URL` may be misspelled, or the ledger's file lost. Without
 * the old ledger, blocked images are accepted again and held ones cannot be released.
 */
async function warnOfImages({ list }: ObjectStore, log: Log): Promise<void> {
  for await (const _ of list()) {
    log.warn(
      {},
      'the ledger is new, but there are images: was there another one, with holds, blocks and cases?',
    )
    return
  }
}

/** The folder for drafts that are too large for memory. */
export function draftFolder(config: Config): string {
  return join(config.dataDir, config.objectsUrl === null ? 'images/incoming' : 'incoming')
}

function openFolder({ dataDir, hotSetBytes }: Config): Promise<FilesystemStore> {
  return openFilesystemStore({ folder: join(dataDir, 'images'), hotSetBytes })
}

/** The data folder named by `file:` and a path; the configuration's if the path is empty. `null` for `s3://…`. */
export function dataFolderOf(url: string, { dataDir }: Config): string | null {
  return url.startsWith('file:') ? url.slice('file:'.length) || dataDir : null
}

/** Throws an `Error` if `--from` names a folder without images, which opening would create. */
export function assertFolder(source: string, config: Config): void {
  const folder = dataFolderOf(source, config)
  if (folder === null) return
  const images = join(folder, 'images')
  if (!existsSync(images)) throw new Error(`--from is not a data folder: there is no ${images}`)
}

/** Opens an image store for a command: `file:` and a data folder, or `s3://…`. `identity`: the folder's. */
export async function openImages(url: string, config: Config): Promise<ObjectStore & { identity?: string }> {
  const dataDir = dataFolderOf(url, config)
  return dataDir === null
    ? openBucket(config, url, 'command')
    : openFolder({ ...config, dataDir, hotSetBytes: 0 })
}

async function openBucket(config: Config, url: string, as: OpenOptions['as']): Promise<ObjectStore> {
  const { openS3Store } = await import('../../stores/s3/store.ts')
  const options = s3Options(config)
  // A command leaves no files in a server's folder.
  const drafts = as === 'server' ? draftFolder(config) : tmpdir()
  if (as === 'server') await makePrivate(drafts)
  return openS3Store({
    url,
    ...options,
    spool: createSpool(drafts),
  })
}

/** `mustExist`: throws `NoLedger` if there is none. */
export async function openLedger(config: Config, mustExist: boolean): Promise<Ledger> {
  if (config.ledgerUrl !== null) {
    const { openPostgresLedger } = await import('../../stores/postgres/ledger.ts')
    // A command creates no files in a server's folder.
    const saltFolder = mustExist ? null : join(config.dataDir, 'private')
    return openPostgresLedger({ url: config.ledgerUrl, mustExist, saltFolder })
  }
  const { openSqliteLedger } = await import('../../stores/sqlite/ledger.ts')
  return openSqliteLedger({ file: join(config.dataDir, 'ledger.sqlite'), mustExist })
}

/** For a command. `null` if there is none. */
export function openExistingLedger(config: Config): Promise<Ledger | null> {
  return openLedger(config, true).catch((error) => {
    if (error instanceof NoLedger) return null
    throw error
  })
}
