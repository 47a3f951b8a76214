/** The location of the data that a configuration names. */
import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Config } from '../../config.ts'
import { OPERATOR } from '../manifest.ts'

/** Marks a restore in progress, in `DATA_DIR`: images that were removed since the backup may be present. */
export const RESTORING = 'restoring'

/** Throws an `Error` if a restore is unfinished. */
export function assertRestored({ dataDir }: Config): void {
  if (!existsSync(join(dataDir, RESTORING))) return
  throw new Error(
    `a backup is being restored to DATA_DIR=${dataDir}. If the restore was interrupted, run it again: ${OPERATOR} restore BACKUP. ` +
      `If the data was copied by hand: ${OPERATOR} verify --repair`,
  )
}

/** Whether a folder, which may not exist yet, is on the disk of `DATA_DIR`: a copy there would be lost with the original. */
export async function isOnDisk(folder: string, { dataDir }: Config): Promise<boolean> {
  const deviceOf = async (path: string) => (await stat(path).catch(() => null))?.dev
  const device = (await deviceOf(folder)) ?? (await deviceOf(dirname(folder)))
  return device !== undefined && device === (await deviceOf(dataDir))
}

/** For display: without user, password and query. */
export function describeData({ dataDir, objectsUrl, ledgerUrl }: Config): string[] {
  return [
    `Images: ${addressOnly(objectsUrl) ?? `${resolve(dataDir)}/images`}`,
    `Ledger: ${addressOnly(ledgerUrl) ?? `${resolve(dataDir)}/ledger.sqlite`}`,
  ]
}

/** Throws an `Error` if `DATA_DIR` lacks data that it should have. */
export function assertData({ dataDir, objectsUrl, ledgerUrl }: Config): void {
  const missing = [
    ...(objectsUrl === null && !existsSync(join(dataDir, 'images', 'objects')) ? ['images'] : []),
    ...(ledgerUrl === null && !existsSync(join(dataDir, 'ledger.sqlite')) ? ['ledger.sqlite'] : []),
  ]
  if (missing.length === 0) return
  throw new Error(
    `DATA_DIR=${dataDir} is ${resolve(dataDir)}, which holds no server’s data: ${missing.join(' and ')} missing. ` +
      'Set the same variables as for the server.',
  )
}

function addressOnly(url: string | null): string | null {
  if (url === null) return null
  const { protocol, host, pathname } = new URL(url)
  return `${protocol}//${host}${pathname}`
}
