/** A backup's manifest. Written last: a backup without a manifest is incomplete. */
import { createHash } from 'node:crypto'
import { parseJsonObject } from '../../json.ts'
import type { Files } from '../../stores/files.ts'
import type { LedgerKind } from './ledger.ts'

export interface Manifest {
  /** ISO 8601, UTC. Every upload acknowledged before this time is included. */
  begunAt: string
  images: number
  /** The instance's ID in its ledger. Missing in backups of older versions. */
  instance?: string
  /** IDs, one per line, sorted. */
  list: { file: string; sha256: string }
  ledger: { file: string; sha256: string; kind: LedgerKind }
}

const MANIFEST = /^\d{8}T\d{6}Z\.json$/

/** The file name prefix of a backup's files. */
export function nameOf(begunAt: Date): string {
  return begunAt.toISOString().replace(/\.\d+/, '').replace(/[-:]/g, '')
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

export interface ReadBackup {
  manifest: Manifest
  /** `null` if not requested. */
  ledger: Uint8Array | null
  /** `null` if the list is damaged. */
  ids: string[] | null
  /** Names of missing or corrupted files. */
  damaged: string[]
}

/**
 * Reads the newest backup whose ledger is intact, or the one called `name`. Throws an `Error` if there is none. Without
 * `wantsLedger` the ledger is neither read nor checked.
 */
export async function readBackup(
  files: Files,
  name: string | undefined,
  wantsLedger: boolean,
): Promise<ReadBackup> {
  const all = (await files.names()).filter((each) => MANIFEST.test(each)).reverse()
  const names = name === undefined ? all : all.filter((each) => each === `${name}.json`)
  const damaged: string[] = []
  for (const each of names) {
    const text = Buffer.from((await files.read(each))!).toString('utf8')
    const manifest = parseJsonObject(text) as Manifest | null
    const ledger = manifest && wantsLedger ? await readChecked(files, manifest.ledger) : null
    if (manifest === null || (wantsLedger && ledger === null)) {
      damaged.push(manifest?.ledger.file ?? each)
      continue
    }
    const list = await readChecked(files, manifest.list).catch(() => null)
    if (list === null) damaged.push(manifest.list.file)
    const ids = list && Buffer.from(list).toString('utf8').split('\n').filter(Boolean)
    return { manifest, ledger, ids, damaged }
  }
  const others = all.map((each) => each.replace('.json', '')).filter((each) => each !== name)
  throw new Error(
    [
      name === undefined ? 'no backup with an intact ledger was found' : `no intact backup ${name} was found`,
      ...damaged.map((each) => `damaged: ${each}`),
      ...(name !== undefined && others.length > 0 ? [`other backups (--name): ${others.join(', ')}`] : []),
    ].join('\n'),
  )
}

/** `null` if the file is missing, or does not match its checksum in the manifest. */
async function readChecked(
  files: Files,
  { file, sha256 }: { file: string; sha256: string },
): Promise<Uint8Array | null> {
  const bytes = await files.read(file)
  return bytes !== null && sha256Of(bytes) === sha256 ? bytes : null
}
