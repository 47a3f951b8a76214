/** Where the data is that a configuration names. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Config } from '../../config.ts'
import { OPERATOR } from '../manifest.ts'

/** In `DATA_DIR` while a backup is restored: what was removed since may be there still. */
export const RESTORING = 'restoring'

/** Throws an `Error` if a restore was not finished. */
export function assertRestored({ dataDir }: Config): void {
  if (!existsSync(join(dataDir, RESTORING))) return
  throw new Error(
    `a backup is being restored to DATA_DIR=${dataDir}. If that was interrupted, do it again: ${OPERATOR} restore BACKUP; ` +
      `if the data was copied by hand: ${OPERATOR} verify --repair`,
  )
}

/** For people: without user, password and query. */
export function describeData({ dataDir, objectsUrl, ledgerUrl }: Config): string[] {
  return [
    `Images: ${addressOnly(objectsUrl) ?? `${resolve(dataDir)}/images`}`,
    `Ledger: ${addressOnly(ledgerUrl) ?? `${resolve(dataDir)}/ledger.sqlite`}`,
  ]
}

/** Throws an `Error` if what should be in `DATA_DIR` is not there. */
export function assertData({ dataDir, objectsUrl, ledgerUrl }: Config): void {
  const missing = [
    ...(objectsUrl === null && !existsSync(join(dataDir, 'images', 'objects')) ? ['images'] : []),
    ...(ledgerUrl === null && !existsSync(join(dataDir, 'ledger.sqlite')) ? ['ledger.sqlite'] : []),
  ]
  if (missing.length === 0) return
  throw new Error(
    `DATA_DIR=${dataDir} is ${resolve(dataDir)}, and no server ever kept its data there: it has no ${missing.join(' and no ')}. ` +
      'Set the same variables as for the server.',
  )
}

function addressOnly(url: string | null): string | null {
  if (url === null) return null
  const { protocol, host, pathname } = new URL(url)
  return `${protocol}//${host}${pathname}`
}
