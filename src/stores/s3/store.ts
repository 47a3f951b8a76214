/**
 * Images in an S3-compatible store: one object an image, `<prefix><id>`, its record in the object's user metadata.
 * Where a draft keeps its bytes is the host's to say. Node only.
 *
 * The store must be strongly consistent, honour conditions on puts, and keep no old versions: see `start.ts`.
 */
import { ID_PATTERN } from '../../protocol.ts'
import { type Draft, type ImageRecord, type ObjectStore, StoreFull } from '../object-store.ts'
import { createS3Client, type RetryPolicy } from './client.ts'
import { commitObject, type DraftBytes } from './commit.ts'
import { headObject, isRetired } from './head.ts'
import { holdObjects } from './hold.ts'
import { assertListable, listIds } from './list.ts'
import { createOverwrite } from './overwrite.ts'
import { createCheck, sweepProbes } from './probe.ts'
import { openObject, recordAt, verifyObject, viewOf } from './read.ts'
import { createRemover } from './removal.ts'
import { replaceObject } from './replace.ts'
import type { Credentials } from './sign.ts'
import { assertFit } from './start.ts'
import type { Transport } from './transport.ts'
import { parseS3Url } from './url.ts'

export { parseS3Url } from './url.ts'

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
  now?: () => number
}

/** What Amazon and most others give at most. */
const PAGE_KEYS = 1000

/** Throws an `Error` that says what to change if the URL is wrong or the bucket unfit, `StoreUnavailable`. */
export async function openS3Store(options: S3StoreOptions): Promise<ObjectStore> {
  const { spool, pageKeys = PAGE_KEYS } = options
  const location = parseS3Url(options.url, options.region)
  const { bucket, prefix } = location
  const { accessKeyId, secretAccessKey, sessionToken } = options
  const client = createS3Client(location, { accessKeyId, secretAccessKey, sessionToken }, options)
  await assertFit(client, bucket, prefix)
  // Without permission to list, Amazon answers 403 where nothing is, and not 404.
  await assertListable(client, prefix)
  // The next start tries again.
  await sweepProbes(client, prefix).catch(() => {})
  const overwrite = createOverwrite(client)
  const remove = createRemover(client, overwrite)
  const keyOf = (id: string) => prefix + id

  async function head(id: string): Promise<ImageRecord | null> {
    return ID_PATTERN.test(id) ? recordAt(viewOf({ client, id, key: keyOf(id) })) : null
  }

  async function draft(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<Draft> {
    const bytes = await spool.receive(body, limitBytes).catch(fullOrThrow)
    let isSpent = false
    return {
      size: bytes.size,
      read: bytes.read,
      digest: bytes.digest,
      async commit(record, segments) {
        if (isSpent) throw new Error('the draft was committed or discarded already')
        isSpent = true
        try {
          if (!ID_PATTERN.test(record.id)) throw new Error('not an id')
          await commitObject(client, keyOf(record.id), { record, draft: bytes, segments })
        } finally {
          await bytes.discard()
        }
      },
      async replace(record, segments) {
        isSpent = true
        try {
          const image = { record, draft: bytes, segments }
          return ID_PATTERN.test(record.id) ? await replaceObject({ client, overwrite, prefix }, image) : null
        } finally {
          await bytes.discard()
        }
      },
      async discard() {
        isSpent = true
        await bytes.discard()
      },
    }
  }

  return {
    draft,
    head,
    // What can be seen is stored.
    async headDurable(id) {
      const found = ID_PATTERN.test(id) ? await headObject(client, keyOf(id)) : null
      if (found === null) return null
      if (found.tombstone === null) return found.record(id)
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
      now: options.now ?? Date.now,
    }),
    list: (after = '') => listIds(client, prefix, pageKeys, after),
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
