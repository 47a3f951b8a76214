/** The ledger of a backup is older than what happened since: what is known of that, and what to do about the rest. */
import type { Config } from '../../config.ts'
import { type FoundTombstones, lastOf } from '../../service/recovery/tombstone-files.ts'
import type { Ledger } from '../../stores/ledger.ts'
import { APPLIED, PLACE, type Tombstone } from '../../stores/tombstones.ts'
import type { Stores } from '../open/stores.ts'
import { type RestoreMark, readMark, removeMark, writeMark } from './mark.ts'

const BY = { who: 'pinhole' }

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
