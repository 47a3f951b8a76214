/**
 * Brings the ledger of a backup up to date: applies the tombstones of the second place, and makes images private where the
 * deletions since the backup are unknown. A restore may be killed at any step and started again: its mark says how far it is.
 */
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { type FoundTombstones, lastOf } from '../../service/recovery/tombstone-files.ts'
import { openFolderFiles } from '../../stores/filesystem/files.ts'
import type { Ledger } from '../../stores/ledger.ts'
import { APPLIED, PLACE, type Tombstone } from '../../stores/tombstones.ts'
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
  /** The restore made the images private, and not the operator. */
  madePrivate: boolean
}

/** `null`: there is none, or data was copied by hand. */
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

/** Throws an `Error` if the service had a second place and the configuration names none. */
export async function assertPlaceKnown({ tombstonesUrl }: Config, ledger: Ledger): Promise<void> {
  const place = (await ledger.facts())[PLACE]
  if (place === undefined || tombstonesUrl !== null) return
  throw new Error(
    `what was deleted after the backup is in ${place}: set TOMBSTONES_URL and begin again. ` +
      'If that place is lost too: --without-tombstones',
  )
}

/** Before anything is brought back: whatever becomes of the restore, nobody sees what may be deleted. */
export async function makePrivate(ledger: Ledger, mark: RestoreMark, dataDir: string): Promise<void> {
  if ((await ledger.settings()).images === 'private') return
  mark.madePrivate = true
  await writeMark(dataDir, mark)
  await ledger.changeSettings({ images: 'private' }, 'a backup is restored', new Date(), BY)
}

export async function makePublic(ledger: Ledger, mark: RestoreMark): Promise<void> {
  if (!mark.madePrivate) return
  await ledger.changeSettings(
    { images: null },
    'a backup is restored, and what was decided since is known',
    new Date(),
    BY,
  )
}

/** Applies the tombstones, and holds what is held here and was not released since. */
export async function bringLedgerUp(
  { ledger, objects }: Stores,
  found: Pick<FoundTombstones, 'id' | 'tombstones'> | null,
  mark: RestoreMark,
  dataDir: string,
): Promise<void> {
  const last = lastOf(found?.tombstones ?? [])
  await ledger.applyTombstones(last)
  await ledger.writeFacts({ [APPLIED]: found === null ? 'none' : (found.id ?? 'yes') }, { replace: true })
  if (mark.hasHolds) return
  // Images that survived may have been held after the backup.
  const acts = new Map(last.map(({ subject, act }) => [subject, act]))
  const held: Tombstone[] = []
  for await (const subject of objects.listHeld()) {
    if (!acts.has(subject)) held.push({ at: Date.now(), order: 0, act: 'hold', subject, rule: '' })
  }
  await ledger.applyTombstones(held)
  mark.hasHolds = true
  await writeMark(dataDir, mark)
}

/** Gives up a restore. Images that it had yet to remove may still be there, so all images stay private. */
export async function endRestore(dataDir: string, ledger: Ledger): Promise<void> {
  const mark = await readMark(dataDir)
  if (mark !== null) await makePrivate(ledger, mark, dataDir)
  await removeMark(dataDir)
}
