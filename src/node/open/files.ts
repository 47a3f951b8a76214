/** Opens the small files that a command or the configuration names. */
import { join, resolve } from 'node:path'
import type { Config } from '../../config.ts'
import type { Files } from '../../stores/files.ts'
import { openFolderFiles } from '../../stores/filesystem/files.ts'

/** What a backup has beside images: ledgers and manifests. `url`: `file:` and a folder, or `s3://…`. */
export function openBackupFiles(url: string, config: Config): Promise<Files> {
  if (url.startsWith('file:')) {
    return Promise.resolve(openFolderFiles(join(url.slice('file:'.length), 'backup')))
  }
  return openS3Files(url, '.backup/', config)
}

/** The second place of tombstones. `null`: the configuration names none. */
export async function openTombstoneFiles(config: Config): Promise<Files | null> {
  const { tombstonesUrl: url } = config
  if (url === null) return null
  if (url.startsWith('file:')) return openFolderFiles(resolve(url.slice('file:'.length)))
  return openS3Files(url, '', config)
}

async function openS3Files(url: string, folder: string, config: Config): Promise<Files> {
  const { openS3Files } = await import('../../stores/s3/store.ts')
  return openS3Files({ url, folder, ...s3Options(config) })
}

/** What an S3 store is opened with, beside its URL. */
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
