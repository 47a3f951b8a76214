/** What a backup holds: written last, so that one without it is none. */
import { createHash } from 'node:crypto'
import type { Files } from '../../stores/files.ts'
import type { LedgerKind } from './ledger.ts'

export interface Manifest {
  /** ISO 8601, UTC: every upload that was acknowledged before is in it. */
  begunAt: string
  images: number
  /** Ids, one a line, in order. */
  list: { file: string; sha256: string }
  ledger: { file: string; sha256: string; kind: LedgerKind }
}

const MANIFEST = /^\d{8}T\d{6}Z\.json$/

/** Files of one backup begin with it. */
export function nameOf(begunAt: Date): string {
  return begunAt.toISOString().replace(/\.\d+/, '').replace(/[-:]/g, '')
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** The newest one, or the one of this name. Throws an `Error` if there is none. */
export async function readManifest(files: Files, name?: string): Promise<Manifest> {
  const names = (await files.names()).filter((each) => MANIFEST.test(each)).sort()
  const chosen = name === undefined ? names.at(-1) : names.find((each) => each === `${name}.json`)
  if (chosen === undefined)
    throw new Error(name === undefined ? 'there is no backup' : `there is no backup ${name}`)
  return JSON.parse(Buffer.from((await files.read(chosen))!).toString('utf8')) as Manifest
}

/** Throws an `Error` if the file is not what the manifest says. */
export async function readChecked(
  files: Files,
  { file, sha256 }: { file: string; sha256: string },
): Promise<Uint8Array> {
  const bytes = await files.read(file)
  if (bytes === null) throw new Error(`the backup lacks ${file}`)
  if (sha256Of(bytes) !== sha256) throw new Error(`${file} of the backup is damaged`)
  return bytes
}
