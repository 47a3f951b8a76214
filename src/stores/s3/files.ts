/** Files beside the images of a prefix, for backups. No listing of images shows them. */
import { errorOf, isAbsent } from './answer.ts'
import { readAll } from './body.ts'
import { createS3Client } from './client.ts'
import { listKeys } from './list.ts'
import type { Credentials } from './sign.ts'
import { parseS3Url } from './url.ts'

export interface Files {
  names(): Promise<string[]>
  /** `null` if there is none. */
  read(name: string): Promise<Uint8Array | null>
  write(name: string, bytes: Uint8Array): Promise<void>
  close(): Promise<void>
}

/** Ledgers are held in memory on their way. */
const LARGEST_BYTES = 2 ** 31

export function openS3Files(options: Credentials & { url: string; region?: string }): Files {
  const { accessKeyId, secretAccessKey, sessionToken } = options
  const location = parseS3Url(options.url, options.region)
  const client = createS3Client(location, { accessKeyId, secretAccessKey, sessionToken }, {})
  const folder = `${location.prefix}.backup/`
  return {
    async names() {
      const names: string[] = []
      for await (const { key } of listKeys(client, folder, 1000, '')) names.push(key.slice(folder.length))
      return names
    },
    async read(name) {
      const doing = 'GET a file of a backup'
      const { value, failure } = await client.open({ method: 'GET', key: folder + name, doing })
      if (failure === null) return readAll(value!.body, LARGEST_BYTES)
      if (isAbsent(failure)) return null
      throw errorOf(failure, doing)
    },
    async write(name, bytes) {
      const body = new Uint8Array(bytes)
      const doing = 'PUT a file of a backup'
      const { failure } = await client.ask({ method: 'PUT', key: folder + name, body, headers: {}, doing })
      if (failure !== null) throw errorOf(failure, doing)
    },
    close: () => client.close(),
  }
}
