/**
 * Images in an S3-compatible store: one object an image, `<prefix><id>`, its record in the object's user metadata.
 * Where a draft keeps its bytes is up to the host.
 *
 * The store must be strongly consistent, honour conditions on puts, and keep no old versions: see `bucket.ts`.
 */
import { ID_PATTERN } from '../../protocol.ts'
import { type DraftBytes, draftOf } from '../bucket/draft.ts'
import { isRetired, listingStart } from '../bucket/markers.ts'
import type { Files } from '../files.ts'
import { type Draft, type ImageRecord, type ObjectStore, StoreFull } from '../object-store.ts'
import { errorOf, isAbsent } from './answer.ts'
import { assertFit, createCheck, sweepProbes } from './bucket.ts'
import { createS3Client, type RetryPolicy, readAll, type S3Client } from './client.ts'
import { holdObjects } from './hold.ts'
import { createOverwrite, headObject, listKeys, removeObject } from './objects.ts'
import { openObject, recordAt, verifyObject, viewOf } from './read.ts'
import { createRemover, isMarker } from './removal.ts'
import type { Credentials } from './sign.ts'
import type { Transport } from './transport.ts'
import { parseS3Url } from './url.ts'
import { commitObject, replaceObject } from './write.ts'

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
  const { bucket, prefix } = location
  const { accessKeyId, secretAccessKey, sessionToken } = options
  const client = createS3Client(location, { accessKeyId, secretAccessKey, sessionToken }, options)
  await assertFit(client, bucket, prefix)
  // The next start tries again.
  await sweepProbes(client, prefix).catch(() => {})
  const overwrite = createOverwrite(client)
  const remove = createRemover(client, overwrite)
  const keyOf = (id: string) => prefix + id

  async function head(id: string): Promise<ImageRecord | null> {
    return ID_PATTERN.test(id) ? recordAt(viewOf({ client, id, key: keyOf(id) })) : null
  }

  async function draft(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<Draft> {
    return draftOf(await spool.receive(body, limitBytes).catch(fullOrThrow), {
      commit: (image) => commitObject(client, keyOf(image.record.id), image),
      replace: (image) => replaceObject({ client, overwrite, prefix }, image),
    })
  }

  return {
    draft,
    head,
    // What is visible is durable.
    async headDurable(id) {
      const found = ID_PATTERN.test(id) ? await headObject(client, keyOf(id)) : null
      if (found === null) return null
      if (found.marker === null) return found.record(id)
      return isRetired(found) ? 'retired' : null
    },
    open: async (id, selection) =>
      ID_PATTERN.test(id) ? openObject(viewOf({ client, id, key: keyOf(id) }), selection) : null,
    verify: async (id) => (ID_PATTERN.test(id) ? verifyObject({ client, id, key: keyOf(id) }) : null),
    remove: async (id, removal) => ID_PATTERN.test(id) && remove(keyOf(id), removal),
    ...holdObjects({
      client,
      location,
      overwrite,
      receive: spool.receive,
    }),
    list: (after = '') => listIds(client, prefix, after, options.pageKeys),
    check: createCheck(client, prefix),
    close: () => client.close(),
  }
}

/** A spool's own disk can be full too. */
function fullOrThrow(error: unknown): never {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOSPC' || code === 'EDQUOT') throw new StoreFull({ cause: error })
  throw error
}

async function* listIds(
  client: S3Client,
  prefix: string,
  after: string,
  pageKeys: number | undefined,
): AsyncGenerator<string> {
  let last = after
  for await (const object of listKeys(client, prefix, { start: listingStart(after), pageKeys })) {
    const id = object.key.slice(prefix.length)
    if (!ID_PATTERN.test(id) || id <= after) continue
    if (id <= last) throw new Error('the object store does not list keys in order, which Pinhole needs')
    last = id
    if (!(await isMarker(client, object))) yield id
  }
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
  const { accessKeyId, secretAccessKey, sessionToken, retryPolicy } = options
  const location = parseS3Url(options.url, options.region)
  const client = createS3Client(location, { accessKeyId, secretAccessKey, sessionToken }, { retryPolicy })
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
