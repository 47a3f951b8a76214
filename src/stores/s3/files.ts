/** Files below a prefix, beside images or alone. No listing of images shows them. */
import type { Files } from '../files.ts'
import { errorOf, isAbsent } from './answer.ts'
import { readAll } from './body.ts'
import { createS3Client, type RetryPolicy } from './client.ts'
import { listKeys } from './list.ts'
import { removeObject } from './removal.ts'
import type { Credentials } from './sign.ts'
import { parseS3Url } from './url.ts'

/** Ledgers are held in memory on their way. */
const LARGEST_BYTES = 2 ** 31

const PAGE_KEYS = 1000

/** `folder`: below the prefix of the URL, with a slash at its end. */
export function openS3Files(
  options: Credentials & {
    url: string
    folder: string
    region?: string
    retryPolicy?: Partial<RetryPolicy>
  },
): Files {
  const { accessKeyId, secretAccessKey, sessionToken, retryPolicy } = options
  const location = parseS3Url(options.url, options.region)
  const client = createS3Client(location, { accessKeyId, secretAccessKey, sessionToken }, { retryPolicy })
  const folder = location.prefix + options.folder
  return {
    // A bucket has no folders.
    make: async () => {},
    async names() {
      const names: string[] = []
      for await (const { key } of listKeys(client, folder, PAGE_KEYS, ''))
        names.push(key.slice(folder.length))
      return names.sort()
    },
    async read(name) {
      const doing = 'GET a file'
      const { value, failure } = await client.open({ method: 'GET', key: folder + name, doing })
      if (failure === null) return readAll(value!.body, LARGEST_BYTES)
      if (isAbsent(failure)) return null
      throw errorOf(failure, doing)
    },
    async write(name, bytes) {
      const body = new Uint8Array(bytes)
      const doing = 'PUT a file'
      const { failure } = await client.ask({ method: 'PUT', key: folder + name, body, headers: {}, doing })
      if (failure !== null) throw errorOf(failure, doing)
    },
    remove: (name) => removeObject(client, folder + name),
    close: () => client.close(),
  }
}
