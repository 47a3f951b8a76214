/** The state of a restore that has not finished. It may be killed at any step and started again. */
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openFolderFiles } from '../../stores/filesystem/files.ts'
import { RESTORING } from '../open/data-folder.ts'

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
