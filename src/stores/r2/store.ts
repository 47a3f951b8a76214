/**
 * `ObjectStore` and `Files` in R2, through a Worker's binding. Uses the same object format as the S3 adapter, which can read
 * the same bucket from anywhere else. Drafts stay in memory.
 */
import { CHUNK_BYTES, readAll } from '../../formats/image.ts'
import { MARKER, MARKER_NAME, RELEASE_NAME } from '../bucket/markers.ts'
import { cacheControlOf, encodeRecord, RECORD_NAME } from '../bucket/record.ts'
import { type ImageBucket, openBucketStore } from '../bucket/store.ts'
import type { NewImage } from '../drafts/draft.ts'
import type { Files } from '../files.ts'
import { type ImageRecord, type ObjectStore, StoreUnavailable, storedSize } from '../object-store.ts'
import type { R2Bucket, R2Object, R2ObjectBody, R2PutOptions, R2Value } from './binding.ts'
import { type Bucket, headOf, openBucket } from './bucket.ts'
import { receive } from './draft.ts'
import { openObject } from './read.ts'
import { putChunks } from './runtime.ts'

export interface R2StoreOptions {
  bucket: R2Bucket
  prefix?: string
  /** Page size of listings. */
  pageKeys?: number
  /** Minimum delay before the second attempt; it doubles each time. Unit: milliseconds. */
  pauseMs?: number
  now?: () => number
}

export function openR2Store(options: R2StoreOptions): ObjectStore {
  const { prefix = '', now = Date.now } = options
  return openBucketStore(createR2Bucket(openBucket(options.bucket, options), prefix, now), {
    prefix,
    receive,
  })
}

const CHECK_KEYS = 10_000

function createR2Bucket(bucket: Bucket, prefix: string, now: () => number): ImageBucket {
  return {
    async head(key) {
      const object = await bucket.head(key)
      return object && headOf(object, now())
    },

    open: (ref, selection) => openObject(bucket, ref, selection),

    async put(key, image, onlyIf) {
      const { record, draft, segments } = image
      const whole = record.preview && (await draft.digest(segments))
      const condition =
        onlyIf === 'absent' ? { etagDoesNotMatch: '*' } : onlyIf && { etagMatches: onlyIf.etag }
      return bucket.put({
        key,
        send: sendDraft(image),
        ...(condition && { onlyIf: condition }),
        ...optionsOf(record, whole),
      })
    },

    mark: (key, etag, text, body) =>
      bucket.put({
        key,
        send: (put) => put(body),
        onlyIf: { etagMatches: etag },
        httpMetadata: { cacheControl: 'no-store' },
        customMetadata: { [MARKER_NAME]: text },
      }),

    // The binding has no copy operation, so the bytes pass through this Worker.
    async copy(from, to) {
      const object = await bucket.get(from)
      if (object === null) return false
      const { customMetadata = {} } = object
      await bucket.put({ key: to, send: sendObject(bucket, object), customMetadata })
      return true
    },

    async putBack({ id, key }, over) {
      const object = await bucket.get(key)
      if (object === null) return null
      const { customMetadata, ...options } = optionsOf(headOf(object).record(id), undefined)
      return bucket.put({
        key: over.key,
        send: sendObject(bucket, object),
        onlyIf: { etagMatches: over.etag },
        ...options,
        customMetadata: { ...customMetadata, [RELEASE_NAME]: over.release },
      })
    },

    remove: (key) => bucket.delete(key),

    async *list(folder, start) {
      for await (const { key, uploaded, customMetadata } of bucket.list(folder, start)) {
        yield {
          key,
          modifiedAt: uploaded.getTime(),
          isMarker: () => customMetadata?.[MARKER_NAME] !== undefined,
        }
      }
    },

    // The binding reveals R2's clock only through the upload time of an object.
    async time() {
      const key = `${prefix}checks/clock`
      const { stored } = await bucket.put({ key, send: (put) => put(MARKER) })
      await bucket.delete(key)
      return stored!.uploaded.getTime()
    },

    async check() {
      // Random, because R2 allows one write per second and key; of few keys, so that later checks overwrite the leftovers of
      // interrupted ones.
      const key = `${prefix}checks/${Math.floor(Math.random() * CHECK_KEYS)}`
      await bucket.put({ key, send: (put) => put(new Uint8Array()) })
      await bucket.delete(key)
    },

    close: async () => {},
  }
}

/** Options of an image's put, without its condition. `whole`: SHA-256 of image and preview, if known. */
function optionsOf(record: ImageRecord, whole: string | undefined): R2PutOptions {
  const sha256 = record.preview === undefined ? record.sha256 : whole
  return {
    ...(sha256 !== undefined && { sha256 }),
    httpMetadata: { contentType: record.type, cacheControl: cacheControlOf(record) },
    customMetadata: { [RECORD_NAME]: encodeRecord(record) },
  }
}

type Put = (value: R2Value) => Promise<R2Object | null>

/** Sends a small image as bytes, a large one as a stream. */
function sendDraft({ record, draft, segments }: NewImage) {
  const size = storedSize(record)
  return async (put: Put): Promise<R2Object | null> =>
    size <= CHUNK_BYTES ? put(await readAll(draft, segments)) : putChunks(draft.bytes(segments), size, put)
}

/** Sends the bytes of `first`, which is already open. Further attempts open the same object again. */
function sendObject(bucket: Bucket, first: R2ObjectBody) {
  let opened: R2ObjectBody | null = first
  return async (put: Put): Promise<R2Object | null> => {
    const object = opened ?? (await bucket.get(first.key, first.etag))
    opened = null
    if (object === null) throw new StoreUnavailable({ cause: new Error('the object to copy is gone') })
    return putChunks(object.body, object.size, put)
  }
}

/** Small files below a prefix of a bucket. */
export function openR2Files(binding: R2Bucket, folder: string): Files {
  const bucket = openBucket(binding)
  return {
    // A bucket has no folders.
    make: async () => {},
    async names() {
      return Array.fromAsync(bucket.list(folder), ({ key }) => key.slice(folder.length))
    },
    async read(name) {
      const object = await bucket.get(folder + name)
      return object === null ? null : new Uint8Array(await object.arrayBuffer())
    },
    async write(name, bytes) {
      await bucket.put({ key: folder + name, send: (put) => put(bytes as Uint8Array<ArrayBuffer>) })
    },
    remove: (name) => bucket.delete(folder + name),
    close: async () => {},
  }
}
