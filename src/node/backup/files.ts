/** What a backup has beside images: ledgers and manifests, in a folder or a bucket. */
import { mkdir, open, readdir, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import type { Files } from '../../stores/s3/files.ts'
import { s3Options } from '../open/stores.ts'

export async function openFiles(url: string, config: Config): Promise<Files> {
  if (url.startsWith('file:')) return folderFiles(join(url.slice('file:'.length), 'backup'))
  const { openS3Files } = await import('../../stores/s3/files.ts')
  return openS3Files({ url, ...s3Options(config) })
}

function folderFiles(folder: string): Files {
  return {
    close: async () => {},
    names: () => readdir(folder).catch(unlessAbsent([])),
    read: (name) => readFile(join(folder, name)).catch(unlessAbsent(null)),
    async write(name, bytes) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const path = join(folder, name)
      {
        // Addresses can be tested against the ledger's buckets.
        await using handle = await open(`${path}.part`, 'w', 0o600)
        await handle.writeFile(bytes)
        await handle.sync()
      }
      await rename(`${path}.part`, path)
      await using handle = await open(folder, 'r')
      await handle.sync()
    },
  }
}

function unlessAbsent<T>(value: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === 'ENOENT') return value
    throw error
  }
}
