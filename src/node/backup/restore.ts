/** Restores a backup to an empty machine, or to one that kept its ledger or its images. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import type { Log } from '../../http/log.ts'
import { renewIdentities } from '../../service/images/identities.ts'
import { SEALED_RULE } from '../../service/moderation/evidence.ts'
import { removeGone, syncHolds } from '../../service/recovery/reconcile.ts'
import { createTombstoneFiles, type FoundTombstones } from '../../service/recovery/tombstone-files.ts'
import { compareListings, type Transfer, transferImages, unexpired } from '../../service/recovery/transfer.ts'
import type { Files } from '../../stores/files.ts'
import { DamagedObject, type ObjectStore } from '../../stores/object-store.ts'
import { nodeHashes } from '../hashes.ts'
import { agree } from '../open/agreement.ts'
import {
  copyEvidence,
  openBackupFiles,
  openEvidence,
  openEvidenceFiles,
  openTombstoneFiles,
} from '../open/files.ts'
import { openImages, openStores, type Stores } from '../open/stores.ts'
import { assertNewer, assertNotWritten, hasLedger, writeLedger } from './ledger.ts'
import { type Manifest, nameOf, readBackup } from './manifest.ts'
import {
  assertTombstonesConfigured,
  catchUpLedger,
  makePrivate,
  makePublic,
  type RestoreMark,
  readMark,
  removeMark,
  writeMark,
} from './restored-ledger.ts'

/**
 * Servers advance a watermark in the second location every 20 s. If it is older than this, writing there may have stopped
 * before the disk was lost, so later deletions are unknown: only the operator knows when the disk failed. Unit: milliseconds.
 */
const RECENT_MS = 15 * 60_000

export interface RestoreResult {
  manifest: Manifest
  transfer: Transfer
  /** The existing ledger is newer than the backup's and was kept. */
  keptLedger: boolean
  /** IDs removed or deleted after the backup was made. */
  gone: string[]
  /** IDs in the backup's list whose images are missing from it. */
  missing: string[]
  /** Corrupted files of the backup or of the second location. */
  damagedFiles: string[]
  /** From when deletions and decisions are unknown, ISO 8601. `null`: the ledger has all of them. */
  unknownSince: string | null
  /** Images are private and uploads paused until the operator confirms. */
  isPrivate: boolean
}

/**
 * `name`: which backup; the newest by default. `withoutTombstones`: proceeds although the second location is lost. Can be
 * killed at any step and run again: no server starts in between.
 */
export async function restore(options: {
  config: Config
  log: Log
  from: string
  name: string | undefined
  withoutTombstones: boolean
  /** Keeps the existing ledger, even if it is older or unrelated. */
  keepLedger?: boolean
  onProgress: (transfer: Transfer) => void
}): Promise<RestoreResult> {
  const { config, log, from, name, withoutTombstones, keepLedger = false, onProgress } = options
  const { dataDir } = config
  const files = await openBackupFiles(from, config)
  const resumed = await readMark(dataDir)
  const keptLedger = resumed === null ? await hasLedger(config) : resumed.ledger === 'kept'
  const { manifest, ledger, ids, damaged } = await readBackup(files, name, !keptLedger)
  if (ledger !== null && manifest.ledger.kind === 'postgres' && config.ledgerUrl === null)
    throw new Error('the backup’s ledger is postgres, but LEDGER_URL selects sqlite')
  if (resumed === null && keptLedger && !keepLedger) await assertNewer(config, manifest)
  const isResumed = resumed !== null && (keptLedger || resumed.begunAt === manifest.begunAt)
  if (resumed !== null && !isResumed) await assertNotWritten(config, nameOf(new Date(resumed.begunAt)))
  const tombstones = keptLedger || withoutTombstones ? null : await readTombstones(config)
  await mkdir(config.objectsUrl === null ? join(dataDir, 'images', 'objects') : dataDir, {
    recursive: true,
    mode: 0o700,
  })
  const mark: RestoreMark = isResumed
    ? resumed
    : {
        begunAt: manifest.begunAt,
        ledger: keptLedger ? 'kept' : 'restored',
        hasHolds: false,
        madePrivate: false,
      }
  await writeMark(dataDir, mark)
  if (ledger !== null) await writeLedger(config, manifest.ledger.kind, ledger)
  const source = await openImages(from, config)
  const stores = await openStores(config, log, { as: 'command', mayDisagree: true, isRestoring: true })
  try {
    const { objects } = stores
    if (!keptLedger && !withoutTombstones) await assertTombstonesConfigured(config, stores.ledger)
    await makePrivate(stores.ledger, mark, dataDir)
    if (!keptLedger) await catchUpLedger(stores, tombstones, mark, dataDir)
    const transfer = await transferImages({
      from: unexpired(source, stores.clock.now, (expiry) => stores.ledger.recordExpiries([expiry])),
      to: objects,
      bytesPerSecond: null,
      heal: true,
      staysHeld: new Set(await stores.ledger.heldIds(Number.MAX_SAFE_INTEGER)),
      onProgress,
    })
    const boxes = await openEvidenceFiles(config)
    await copyEvidence(await openEvidenceFiles(config, from), boxes)
    const gone = await removeGone(stores.ledger, objects, await sealerOfLost(boxes, config, stores))
    for (const id of await syncHolds(stores.ledger, objects)) transfer.damaged.push(id)
    // IDs derived and deleted after the backup are unknown here. A new secret ensures that they are never derived again.
    await renewIdentities(stores.ledger)
    // The image folder's identity differs from the one in the ledger.
    await agree(stores.ledger, stores.agreement)
    const { missing, retired } = await findAbsent(ids ?? [], objects, new Set([...gone, ...transfer.damaged]))
    gone.push(...retired)
    const lost: string[] = []
    // Images that expired after the backup were not copied, but are in it.
    for (const id of missing)
      if (!(await stores.ledger.isGone(id)) && (await findImage(id, source)) === null) lost.push(id)
    const knownUntil = Math.max(tombstones?.until ?? 0, Date.parse(manifest.begunAt))
    const isRecent = stores.clock.now() - knownUntil < RECENT_MS
    const isKnown =
      tombstones !== null && knownUntil === tombstones.until && isRecent && tombstones.damaged.length === 0
    if (keptLedger || isKnown) await makePublic(stores.ledger, mark)
    await removeMark(dataDir)
    return {
      manifest,
      transfer: { ...transfer, damaged: [...new Set(transfer.damaged)].sort() },
      keptLedger,
      gone,
      missing: lost,
      damagedFiles: [...damaged, ...(tombstones?.damaged ?? [])],
      unknownSince: keptLedger ? null : new Date(knownUntil).toISOString(),
      isPrivate: (await stores.ledger.settings()).images === 'private',
    }
  } finally {
    await stores.close()
    await source.close()
    await files.close()
  }
}

/**
 * Returns a function that seals an image again before it is deleted, if it was removed as child abuse after the backup: its
 * sealed box was lost with the machine.
 */
async function sealerOfLost(
  boxes: Files,
  config: Config,
  stores: Stores,
): Promise<(id: string) => Promise<void>> {
  const evidence = await openEvidence(config, stores)
  const names = await boxes.names()
  return async (id) => {
    if (evidence === null || names.some((name) => name.includes(id))) return
    const rule = (await stores.ledger.absenceReason(id))?.rule
    if (rule !== SEALED_RULE) return
    await evidence.keep(id, { reason: 'removed before the machine was lost', by: { who: 'pinhole', rule } })
  }
}

async function readTombstones(config: Config): Promise<FoundTombstones | null> {
  const files = await openTombstoneFiles(config)
  if (files === null) return null
  try {
    return await createTombstoneFiles(files, nodeHashes).read()
  } catch (cause) {
    throw new Error('TOMBSTONES_URL can’t be read. Fix it, or continue without it: --without-tombstones', {
      cause,
    })
  } finally {
    await files.close()
  }
}

/** `retired`: deleted while the ledger was unavailable; only the store recorded it, and refused to accept the image again. */
async function findAbsent(ids: readonly string[], objects: ObjectStore, known: ReadonlySet<string>) {
  const [missing, retired]: [string[], string[]] = [[], []]
  // Merges two sorted listings, as a million lookups in the store would take hours.
  for await (const { id, isThere } of compareListings(ids, objects.list())) {
    if (isThere || known.has(id)) continue
    const found = await findImage(id, objects)
    if (found === null) missing.push(id)
    if (found === 'retired') retired.push(id)
  }
  return { missing, retired }
}

async function findImage(id: string, objects: ObjectStore): Promise<object | 'retired' | 'damaged' | null> {
  try {
    return (await objects.headDurable(id)) ?? (await objects.headHeld(id))
  } catch (error) {
    if (error instanceof DamagedObject) return 'damaged'
    throw error
  }
}
