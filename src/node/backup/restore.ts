/** A backup onto a machine that has nothing, or that kept its ledger or its images. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import type { Log } from '../../http/log.ts'
import { renewIdentities } from '../../service/images/identities.ts'
import { holdAsDecided, removeGone } from '../../service/recovery/reconcile.ts'
import { createTombstoneFiles, type FoundTombstones } from '../../service/recovery/tombstone-files.ts'
import { type Transfer, transferImages, unexpired } from '../../service/recovery/transfer.ts'
import { DamagedObject, type ObjectStore } from '../../stores/object-store.ts'
import { nodeHashes } from '../hashes.ts'
import { agree } from '../open/agreement.ts'
import { copyEvidence, openBackupFiles, openEvidenceFiles, openTombstoneFiles } from '../open/files.ts'
import { openImages, openStores } from '../open/stores.ts'
import { assertNewer, hasLedger, putLedger } from './ledger.ts'
import { type Manifest, readBackup } from './manifest.ts'
import {
  assertPlaceKnown,
  bringLedgerUp,
  makePrivate,
  makePublic,
  readMark,
  removeMark,
  writeMark,
} from './restored-ledger.ts'

/**
 * A second place that was written to longer ago may have stopped before the disk was lost, and not know what was deleted
 * meanwhile: only the operator knows when that was. A server writes there every 20 s. Unit: milliseconds.
 */
const RECENT_MS = 15 * 60_000

export interface RestoreResult {
  manifest: Manifest
  transfer: Transfer
  /** The ledger that was there is newer than the backup's, and stays. */
  keptLedger: boolean
  /** Removed or deleted after the backup was made. */
  gone: string[]
  /** In the backup's list, and in its images no more. */
  missing: string[]
  /** Files of the backup or of the second place that are not what they were. */
  damagedFiles: string[]
  /** Since when deletions and decisions are unknown, ISO 8601. `null`: the ledger has them all. */
  unknownSince: string | null
  /** Nobody is shown a picture and uploads are paused, until the operator confirms. */
  isPrivate: boolean
}

/**
 * `name`: of one of several backups; else the newest. `withoutTombstones`: goes on although there is no second place any
 * more. May be killed at any step and begun again: no server starts in between.
 */
export async function restore(options: {
  config: Config
  log: Log
  from: string
  name: string | undefined
  withoutTombstones: boolean
  /** Whatever ledger is there stays. */
  keepLedger?: boolean
  onProgress: (transfer: Transfer) => void
}): Promise<RestoreResult> {
  const { config, log, from, name, withoutTombstones, keepLedger = false, onProgress } = options
  const { dataDir } = config
  const files = await openBackupFiles(from, config)
  const begun = await readMark(dataDir)
  const keptLedger = begun === null ? await hasLedger(config) : begun.ledger === 'kept'
  const { manifest, ledger, ids, damaged } = await readBackup(files, name, !keptLedger)
  if (begun === null && keptLedger && !keepLedger) await assertNewer(config, manifest)
  const found = keptLedger || withoutTombstones ? null : await readTombstones(config)
  await mkdir(config.objectsUrl === null ? join(dataDir, 'images', 'objects') : dataDir, {
    recursive: true,
    mode: 0o700,
  })
  const mark = begun ?? {
    begunAt: manifest.begunAt,
    ledger: keptLedger ? 'kept' : 'restored',
    hasHolds: false,
    madePrivate: false,
  }
  await writeMark(dataDir, mark)
  if (ledger !== null) await putLedger(config, manifest.ledger.kind, ledger)
  const source = await openImages(from, config)
  const stores = await openStores(config, log, { as: 'command', mayDisagree: true, isRestoring: true })
  try {
    const { objects } = stores
    if (!keptLedger) {
      if (!withoutTombstones) await assertPlaceKnown(config, stores.ledger)
      await makePrivate(stores.ledger, mark, dataDir)
      await bringLedgerUp(stores, found, mark, dataDir)
    }
    const transfer = await transferImages({
      from: unexpired(source, stores.clock.now, (expiry) => stores.ledger.recordExpiries([expiry])),
      to: objects,
      bytesPerSecond: null,
      heal: true,
      staysHeld: new Set(await stores.ledger.heldIds(Number.MAX_SAFE_INTEGER)),
      onProgress,
    })
    await copyEvidence(await openEvidenceFiles(config, from), await openEvidenceFiles(config))
    const gone = await removeGone(stores.ledger, objects)
    for (const id of await holdAsDecided(stores.ledger, objects)) transfer.damaged.push(id)
    // Ids derived and deleted after the backup are unknown here: a new secret never derives them again.
    await renewIdentities(stores.ledger)
    // The folder is another one than the ledger knew.
    await agree(stores.ledger, stores.settings)
    const { missing, retired } = await absentOf(ids ?? [], objects, new Set([...gone, ...transfer.damaged]))
    gone.push(...retired)
    const lost: string[] = []
    for (const id of missing) if (!(await stores.ledger.isGone(id))) lost.push(id)
    const knownUntil = Math.max(found?.until ?? 0, Date.parse(manifest.begunAt))
    const isRecent = stores.clock.now() - knownUntil < RECENT_MS
    const isKnown = found !== null && knownUntil === found.until && isRecent && found.damaged.length === 0
    if (!keptLedger && isKnown) await makePublic(stores.ledger, mark)
    await removeMark(dataDir)
    return {
      manifest,
      transfer: { ...transfer, damaged: [...new Set(transfer.damaged)].sort() },
      keptLedger,
      gone,
      missing: lost,
      damagedFiles: [...damaged, ...(found?.damaged ?? [])],
      unknownSince: keptLedger ? null : new Date(knownUntil).toISOString(),
      isPrivate: (await stores.ledger.settings()).images === 'private',
    }
  } finally {
    await stores.close()
    await source.close()
    await files.close()
  }
}

async function readTombstones(config: Config): Promise<FoundTombstones | null> {
  const files = await openTombstoneFiles(config)
  if (files === null) return null
  try {
    return await createTombstoneFiles(files, nodeHashes).read()
  } catch (cause) {
    throw new Error('TOMBSTONES_URL can’t be read. Mend it, or go on without it: --without-tombstones', {
      cause,
    })
  } finally {
    await files.close()
  }
}

/** `retired`: deleted while the ledger was away; the store alone knew, and did not take it back. */
async function absentOf(ids: readonly string[], objects: ObjectStore, known: ReadonlySet<string>) {
  const [missing, retired]: [string[], string[]] = [[], []]
  for (const id of ids) {
    if (known.has(id)) continue
    const found = await find(id, objects)
    if (found === null) missing.push(id)
    if (found === 'retired') retired.push(id)
  }
  return { missing, retired }
}

async function find(id: string, objects: ObjectStore): Promise<object | 'retired' | 'damaged' | null> {
  try {
    return (await objects.headDurable(id)) ?? (await objects.headHeld(id))
  } catch (error) {
    if (error instanceof DamagedObject) return 'damaged'
    throw error
  }
}
