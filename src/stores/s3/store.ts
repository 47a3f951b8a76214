/**
 * Images in an S3-compatible store, and small files there. Where a draft keeps its bytes is up to the host.
 *
 * The store must be strongly consistent, honour conditions on puts, and keep no old versions: see `bucket.ts`.
 */
import { openBucketStore } from '../bucket/store.ts'
import { isFull } from '../disk/faults.ts'
import type { DraftBytes } from '../drafts/draft.ts'
import type { Files } from '../files.ts'
import { type ObjectStore, StoreFull } from '../object-store.ts'
import { errorOf, isAbsent } from './answer.ts'
import { assertFit, sweepProbes } from './bucket.ts'
import { createS3Client, type RetryPolicy, readAll } from './client.ts'
import { imagesIn } from './images.ts'
import { listKeys, removeObject } from './objects.ts'
import type { Credentials } from './sign.ts'
import type { Transport } from './transport.ts'
import { parseS3Url } from './url.ts'

export interface S3StoreOptions extends Credentials {
  /** `s3://bucket/prefix?endpoint=…&region=…&style=path|virtual` */
  url: string
  /** For a URL that names none. */
  region?: string
  /** Receives drafts: `createSpool` on Node. */
  spool: { receive(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<DraftBytes> }
  /** Instead of connections of its own. */
  transport?: Transport
  /** Keys asked for in one page of a listing. */
  pageKeys?: number
  retryPolicy?: Partial<RetryPolicy>
}

/** Throws an `Error` that says what to change if the URL is wrong or the bucket unfit, `StoreUnavailable`. */
export async function openS3Store(options: S3StoreOptions): Promise<ObjectStore> {
  const { spool } = options
  const location = parseS3Url(options.url, options.region)
  const { prefix } = location
  const client = createS3Client(location, options, options)
  const receive: typeof spool.receive = (body, limitBytes) =>
    spool.receive(body, limitBytes).catch(fullOrThrow)
  const images = imagesIn(client, location, { receive, pageKeys: options.pageKeys })
  await assertFit(client, images, location)
  // The next start tries again.
  await sweepProbes(client, prefix).catch(() => {})
  return openBucketStore(images, { prefix, receive, viewMs: client.retryPolicy.viewMs })
}

/** A spool's own disk can be full too. */
function fullOrThrow(error: unknown): never {
  throw isFull(error) ? new StoreFull({ cause: error }) : error
}

/** Ledgers are held in memory on their way. */
const LARGEST_BYTES = 2 ** 31

/**
 * Files below a prefix, beside images or alone. No listing of images shows them.
 * `folder`: below the prefix of the URL, with a slash at its end.
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
      const names: string[] = []
      for await (const { key } of listKeys(client, folder)) names.push(key.slice(folder.length))
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
