/** Opens the small files beside images: backups, tombstones, evidence. */
import { join, resolve } from 'node:path'
import type { Config } from '../../config.ts'
import type { Clock } from '../../service/clock.ts'
import { createEvidence, type Evidence, isExpired } from '../../service/moderation/evidence.ts'
import { sealerFor } from '../../service/moderation/sealing.ts'
import type { Files } from '../../stores/files.ts'
import { openFolderFiles } from '../../stores/filesystem/files.ts'
import type { Ledger } from '../../stores/ledger.ts'
import type { ObjectStore } from '../../stores/object-store.ts'
import { utcDayOf } from '../../utc-day.ts'
import { agreedEvidenceKey } from './agreement.ts'

/** A backup's ledger snapshots and manifests. `url`: `file:` and a folder, or `s3://…`. */
export function openBackupFiles(url: string, config: Config): Promise<Files> {
  return openFiles(url, config, { inFolder: (path) => join(path, 'backup'), inBucket: '.backup/' })
}

/** The second location of tombstones. `null`: none is configured. */
export async function openTombstoneFiles(config: Config): Promise<Files | null> {
  const { tombstonesUrl } = config
  return tombstonesUrl === null
    ? null
    : openFiles(tombstonesUrl, config, { inFolder: (path) => resolve(path), inBucket: '' })
}

/** Sealed evidence beside the images of `url`: `file:` and a data folder, or `s3://…`. Default: the configured store. */
export function openEvidenceFiles(config: Config, url = config.objectsUrl ?? 'file:'): Promise<Files> {
  const inFolder = (path: string) => join(path || config.dataDir, 'evidence')
  return openFiles(url, config, { inFolder, inBucket: '.evidence/' })
}

/** `inBucket`: prefix below the URL's own. */
async function openFiles(
  url: string,
  config: Config,
  { inFolder, inBucket }: { inFolder: (path: string) => string; inBucket: string },
): Promise<Files> {
  if (url.startsWith('file:')) return openFolderFiles(inFolder(url.slice('file:'.length)))
  const { openS3Files } = await import('../../stores/s3/store.ts')
  return openS3Files({ url, folder: inBucket, ...s3Options(config) })
}

/** Creates the evidence sealer. `null`: there is no key, so nothing is sealed. Throws an `Error` for an invalid key. */
export async function openEvidence(
  config: Config,
  { objects, ledger, clock }: { objects: ObjectStore; ledger: Ledger; clock: Clock },
): Promise<Evidence | null> {
  // A command may run without the servers' variables, but must seal what they would.
  const key = config.evidenceKey ?? (await agreedEvidenceKey(ledger))
  if (!key) return null
  const [seal, files] = await Promise.all([sealerFor(key), openEvidenceFiles(config)])
  return createEvidence({ seal, files, objects, ledger, now: clock.now })
}

/** Copies sealed evidence from one location to another, and removes expired boxes that the source no longer has. */
export async function copyEvidence(from: Files, to: Files): Promise<void> {
  const [names, known] = [await from.names(), new Set(await to.names())]
  if (names.length > 0) await to.make()
  for (const name of names) {
    if (known.delete(name)) continue
    const box = await from.read(name)
    if (box !== null) await to.write(name, box)
  }
  const today = utcDayOf(Date.now())
  for (const name of known) if (isExpired(name, today)) await to.remove(name)
}

/** The S3 store's options, apart from its URL. */
export function s3Options({ awsAccessKeyId, awsSecretAccessKey, awsSessionToken, awsRegion }: Config) {
  if (awsAccessKeyId === null || awsSecretAccessKey === null) {
    throw new Error('s3:// needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY')
  }
  return {
    accessKeyId: awsAccessKeyId,
    secretAccessKey: awsSecretAccessKey,
    ...(awsSessionToken === null ? {} : { sessionToken: awsSessionToken }),
    ...(awsRegion === null ? {} : { region: awsRegion }),
  }
}
