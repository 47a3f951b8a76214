/**
 * Brings a restored ledger up to date: applies the tombstones of the second location, and makes images private if the deletions
 * since the backup are unknown. A restore can be killed at any step and run again: a mark in `DATA_DIR` records its progress.
 */
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { type FoundTombstones, latestPerSubject } from '../../service/recovery/tombstone-files.ts'
import { openFolderFiles } from '../../stores/filesystem/files.ts'
import type { Ledger } from '../../stores/ledger.ts'
import { APPLIED_FACT, LOCATION_FACT, type Tombstone } from '../../stores/tombstones.ts'
import { RESTORING } from '../open/data-folder.ts'
import type { Stores } from '../open/stores.ts'

const BY = { who: 'pinhole' }

/** The state of a restore that has not finished. */
export interface RestoreMark {
  /** When the backup began. */
  begunAt: string
  /** Whether the machine had a ledger of its own when the restore began. */
  ledger: 'kept' | 'restored'
  /** Whether holds of this machine's images are recorded in the restored ledger. */
  hasHolds: boolean
  /** The restore made the images private, not the operator. */
  madePrivate: boolean
}

/** `null`: no restore is in progress, or the data was copied by hand. */
export async function readMark(dataDir: string): Promise<RestoreMark | null> {
  try {
    return JSON.parse(await readFile(join(dataDir, RESTORING), 'utf8')) as RestoreMark
  } catch {
    return null
  }
}

export async function writeMark(dataDir: string, mark: RestoreMark): Promise<void> {
  await openFolderFiles(dataDir).write(RESTORING, Buffer.from(`${JSON.stringify(mark)}\n`))
}

export async function removeMark(dataDir: string): Promise<void> {
  await rm(join(dataDir, RESTORING), { force: true })
}

/** Throws an `Error` if the service kept tombstones in a second location and the configuration names none. */
export async function assertTombstonesConfigured({ tombstonesUrl }: Config, ledger: Ledger): Promise<void> {
  const location = (await ledger.facts())[LOCATION_FACT]
  if (location === undefined || tombstonesUrl !== null) return
  throw new Error(
    `deletions made after the backup are recorded in ${location}: set TOMBSTONES_URL and run restore again. ` +
      'If that copy is lost too: --without-tombstones',
  )
}

/** Runs before any image is restored: even if the restore fails, no deleted image becomes visible. */
export async function makePrivate(ledger: Ledger, mark: RestoreMark, dataDir: string): Promise<void> {
  if ((await ledger.settings()).images === 'private') return
  mark.madePrivate = true
  await writeMark(dataDir, mark)
  await ledger.changeSettings({ images: 'private' }, 'a backup is being restored', new Date(), BY)
}

export async function makePublic(ledger: Ledger, mark: RestoreMark): Promise<void> {
  if (!mark.madePrivate) return
  await ledger.changeSettings(
    { images: null },
    'a backup was restored, and all decisions since then are known',
    new Date(),
    BY,
  )
}

/** After every decision is due. Unit: epoch milliseconds. */
const END_OF_TIME = 8.64e15

/**
 * Applies the tombstones, re-holds images that are held on this machine and were not released since, and drops the backup's
 * pending decisions. They were carried out or undone since; their images stay held until the operator decides again.
 */
export async function catchUpLedger(
  { ledger, objects }: Stores,
  tombstones: Pick<FoundTombstones, 'id' | 'tombstones'> | null,
  mark: RestoreMark,
  dataDir: string,
): Promise<void> {
  const last = latestPerSubject(tombstones?.tombstones ?? [])
  await ledger.applyTombstones(last)
  await ledger.writeFacts(
    { [APPLIED_FACT]: tombstones === null ? 'none' : (tombstones.id ?? 'yes') },
    { replace: true },
  )
  for (const pending of await ledger.claimDecisions(Number.MAX_SAFE_INTEGER, END_OF_TIME, 0))
    await ledger.finishDecision(pending)
  if (mark.hasHolds) return
  // Surviving images may have been held after the backup.
  const decided = new Set(last.map(({ subject }) => subject))
  const held: Tombstone[] = []
  for await (const subject of objects.listHeld()) {
    if (!decided.has(subject)) held.push({ at: Date.now(), order: 0, act: 'hold', subject, rule: '' })
  }
  await ledger.applyTombstones(held)
  mark.hasHolds = true
  await writeMark(dataDir, mark)
}

/** Abandons a restore. Images that it should have removed may still exist, so all images stay private. */
export async function abandonRestore(dataDir: string, ledger: Ledger): Promise<void> {
  const mark = await readMark(dataDir)
  if (mark !== null) await makePrivate(ledger, mark, dataDir)
  await removeMark(dataDir)
}
