/**
 * Images in R2, through a Worker's binding: one object an image, `<prefix><id>`, its record in the object's metadata. The
 * objects are those of the S3 adapter, which reads the same bucket from anywhere else. Drafts stay in memory.
 */
import { ID_PATTERN } from '../../protocol.ts'
import { draftOf } from '../bucket/draft.ts'
import { isRetired, listingStart, MARKER_NAME } from '../bucket/markers.ts'
import type { Draft, ImageRecord, ObjectStore } from '../object-store.ts'
import type { R2Bucket } from './binding.ts'
import { openBucket } from './bucket.ts'
import { commitObject, replaceObject } from './commit.ts'
import { receive } from './draft.ts'
import { holdObjects } from './hold.ts'
import { findAt, openObject, recordAt, verifyObject } from './read.ts'
import { removeImage } from './removal.ts'

export interface R2StoreOptions {
  bucket: R2Bucket
  prefix?: string
  /** Keys asked for in one page of a listing. */
  pageKeys?: number
  /** Before the first of further attempts. It doubles each time. */
  pauseMs?: number
  now?: () => number
}

export function openR2Store(options: R2StoreOptions): ObjectStore {
  const { prefix = '', now = Date.now } = options
  const bucket = openBucket(options.bucket, options)
  const keyOf = (id: string) => prefix + id
  const placeOf = (id: string) => ({ bucket, id, key: keyOf(id) })

  async function draft(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<Draft> {
    return draftOf(await receive(body, limitBytes), {
      commit: (image) => commitObject(bucket, keyOf(image.record.id), image),
      replace: (image) => replaceObject(bucket, prefix, image),
    })
  }

  async function* list(after = ''): AsyncGenerator<string> {
    for await (const { key, customMetadata } of bucket.list(prefix, listingStart(after))) {
      const id = key.slice(prefix.length)
      const isImage = customMetadata?.[MARKER_NAME] === undefined
      if (ID_PATTERN.test(id) && id > after && isImage) yield id
    }
  }

  return {
    draft,
    head: async (id): Promise<ImageRecord | null> => (ID_PATTERN.test(id) ? recordAt(placeOf(id)) : null),
    // What can be seen is stored.
    async headDurable(id) {
      const found = ID_PATTERN.test(id) ? await findAt(placeOf(id)) : null
      if (found === null) return null
      if (found.marker === null) return found.record(id)
      return isRetired(found) ? 'retired' : null
    },
    open: async (id, selection) => (ID_PATTERN.test(id) ? openObject(placeOf(id), selection) : null),
    verify: async (id) => (ID_PATTERN.test(id) ? verifyObject(placeOf(id)) : null),
    remove: async (id, removal) =>
      ID_PATTERN.test(id) && removeImage(bucket, keyOf(id), { removal, now: now() }),
    ...holdObjects(bucket, prefix),
    list,
    async check() {
      // One of sixty keys: what a check that is cut off leaves behind is written over by a later one.
      const key = `${prefix}checks/${Math.floor(now() / 1000) % 60}`
      await bucket.put({ key, send: (put) => put(new Uint8Array()) })
      await bucket.delete(key)
    },
    close: async () => {},
  }
}
