/**
 * `ObjectStore` and `Files` in an S3-compatible store. The host decides where drafts keep their bytes.
 *
 * The store must be strongly consistent, honour conditions on puts, and keep no old versions: see `bucket.ts`.
 */
import { hash } from 'node:crypto'
import { openBucketStore } from '../bucket/store.ts'
import { isFull } from '../disk/faults.ts'
import type { DraftBytes } from '../drafts/draft.ts'
import type { Files } from '../files.ts'
import { type ObjectStore, StoreFull } from '../object-store.ts'
import { assertSuitable, sweepProbes } from './bucket.ts'
import { createS3Client, type RetryPolicy, readAll } from './client.ts'
import { createS3Bucket } from './images.ts'
import { listKeys, removeObject } from './objects.ts'
import { errorOf, isAbsent } from './response.ts'
import type { Credentials } from './sign.ts'
import type { Transport } from './transport.ts'
import { parseS3Url } from './url.ts'

export interface S3StoreOptions extends Credentials {
  /** `s3://bucket/prefix?endpoint=…&region=…&style=path|virtual` */
  url: string
  /** Default for a URL without a region. */
  region?: string
  /** Receives drafts. On Node: `createSpool`. */
  spool: { receive(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<DraftBytes> }
  /** Default: a transport of its own. */
  transport?: Transport
  /** Page size of listings. */
  pageKeys?: number
  retryPolicy?: Partial<RetryPolicy>
}

/** Throws an `Error` that says what to change if the URL is invalid or the bucket unsuitable, and `StoreUnavailable`. */
export async function openS3Store(options: S3StoreOptions): Promise<ObjectStore> {
  const { spool } = options
  const location = parseS3Url(options.url, options.region)
  const { prefix } = location
  const client = createS3Client(location, options, options)
  const receive: typeof spool.receive = (body, limitBytes) =>
    spool.receive(body, limitBytes).catch(fullOrThrow)
  const images = createS3Bucket(client, location, { receive, pageKeys: options.pageKeys })
  await assertSuitable(client, images, location)
  // On failure, the next start tries again.
  await sweepProbes(client, prefix).catch(() => {})
  return openBucketStore(images, { prefix, receive, viewMs: client.retryPolicy.viewMs })
}

/** The spool's disk may be full. */
function fullOrThrow(error: unknown): never {
  throw isFull(error) ? new StoreFull({ cause: error }) : error
}

/** Maximum size of a file, since ledger backups are read into memory. */
const MAX_FILE_BYTES = 2 ** 31

const SLICE_BYTES = 64 * 1024

/**
 * Files below a prefix, possibly in the same bucket as images, whose listings skip them. `folder`: relative to the URL's
 * prefix, with a trailing slash.
 */
export function openS3Files(
  options: Credentials & {
    url: string
    folder: string
    region?: string
    retryPolicy?: Partial<RetryPolicy>
  },
): Files {
  const location = parseS3Url(options.url, options.region)
  const client = createS3Client(location, options, options)
  const folder = location.prefix + options.folder
  return {
    // A bucket has no folders.
    make: async () => {},
    async names() {
      const names = await Array.fromAsync(listKeys(client, folder), ({ key }) => key.slice(folder.length))
      return names.sort()
    },
    async read(name) {
      const key = folder + name
      const { value, failure } = await client.open({ method: 'GET', key, operation: 'GET a file' })
      if (failure === null) return readAll(value.body, MAX_FILE_BYTES)
      if (isAbsent(failure)) return null
      throw errorOf(failure)
    },
    async write(name, bytes) {
      const key = folder + name
      const headers = {
        'content-length': String(bytes.length),
        'x-amz-content-sha256': hash('sha256', bytes),
      }
      const body = () => slicesOf(bytes)
      const { failure } = await client.request({ method: 'PUT', key, headers, body, operation: 'PUT a file' })
      if (failure !== null) throw errorOf(failure)
    },
    remove: (name) => removeObject(client, folder + name),
    close: () => client.close(),
  }
}

/** In parts, each of which restarts the idle timeout: a whole file can take minutes. */
async function* slicesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) yield bytes.subarray(at, at + SLICE_BYTES)
}
