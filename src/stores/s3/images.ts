/** `ImageBucket` over the HTTP interface of S3. */
import { hexToBase64 } from '../../bytes.ts'
import { CHUNK_BYTES, readAll } from '../../formats/image.ts'
import { MARKER } from '../bucket/markers.ts'
import { cacheControlOf, encodeRecord } from '../bucket/record.ts'
import type { BucketStoreOptions, ImageBucket, PutOutcome } from '../bucket/store.ts'
import type { NewImage } from '../drafts/draft.ts'
import { chunksOf, DamagedObject, isCopyOf, storedSize } from '../object-store.ts'
import { createCheck } from './bucket.ts'
import type { S3Client, S3Request } from './client.ts'
import {
  headObject,
  type ListedObject,
  listKeys,
  MARKER_HEADER,
  RECORD_HEADER,
  RELEASE_HEADER,
  removeObject,
} from './objects.ts'
import { openObject } from './read.ts'
import { errorOf, isAbsent } from './response.ts'
import { encodeName, type S3Location } from './url.ts'

type Put = Pick<S3Request, 'body' | 'operation'> & { key: string; headers: Record<string, string> }

/** ETag of a retired ID's marker, except in encrypting stores. */
const RETIRED_MD5 = 'a5597e8979d5ae6e4c58a4bc14cefd05'

export function createS3Bucket(
  client: S3Client,
  { bucket, prefix }: S3Location,
  { receive, pageKeys }: Pick<BucketStoreOptions, 'receive'> & { pageKeys: number | undefined },
): ImageBucket {
  // RFC 9110 quotes an ETag. Ceph RGW 16 compares the ETag of a put's condition without quotes.
  let etagStyle: 'quoted' | 'bare' | null = null

  /** Overwrites an object on condition that its ETag has not changed. */
  async function overwrite(etag: string, put: Put): Promise<PutOutcome> {
    let isRetried = false
    for (const style of etagStyle === null ? (['quoted', 'bare'] as const) : [etagStyle]) {
      const match = style === 'bare' ? etag.replaceAll('"', '') : etag
      const headers = { ...put.headers, 'if-match': match }
      const result = await client.request({ ...put, headers, method: 'PUT' })
      const { failure } = result
      isRetried ||= result.isRetried
      if (failure === null) {
        etagStyle = style
        return { isDone: true, isRetried }
      }
      // For a missing key, Amazon answers 404 and others 412.
      if (failure.code === 'NoSuchKey') break
      if (failure.status !== 412) throw errorOf(failure)
    }
    return { isDone: false, isRetried }
  }

  return {
    async head(key, { deadline, isQuick = false } = {}) {
      const once = { attempts: 1, idleMs: client.retryPolicy.idleMs / 2 }
      return headObject(client, key, { deadline, retryPolicy: isQuick ? once : undefined })
    },

    open: (ref, selection) => openObject({ client, ...ref }, selection),

    async put(key, image, onlyIf) {
      const put = { key, ...(await putOf(image)), operation: 'PUT an image' }
      if (typeof onlyIf === 'object') return overwrite(onlyIf.etag, put)
      if (onlyIf === 'absent') put.headers['if-none-match'] = '*'
      const { failure, isRetried } = await client.request({ ...put, method: 'PUT' })
      const isTaken = onlyIf === 'absent' && failure?.status === 412
      if (failure !== null && !isTaken) throw errorOf(failure)
      return { isDone: failure === null, isRetried }
    },

    mark(key, etag, text, body) {
      const headers = { 'cache-control': 'no-store', [MARKER_HEADER]: text }
      return overwrite(etag, { key, headers, body, operation: 'PUT a marker' })
    },

    async copy(from, to) {
      const operation = 'COPY an image'
      const source = `/${[bucket, ...from.split('/')].map(encodeName).join('/')}`
      const headers = { 'x-amz-copy-source': source }
      const { failure } = await client.request({ method: 'PUT', key: to, headers, operation })
      if (failure === null) return true
      if (isAbsent(failure)) return false
      throw errorOf(failure)
    },

    async putBack(copy, { key, etag, release }) {
      const image = await openObject({ client, ...copy }, 'stored')
      if (image === null) return null
      const { record, body } = image
      const draft = await receive(chunksOf(body), storedSize(record))
      try {
        if (!(await isCopyOf(record, draft))) throw new DamagedObject(record.id)
        const put = await putOf({ record, draft, segments: [{ offset: 0, length: draft.size }] })
        put.headers[RELEASE_HEADER] = release
        return await overwrite(etag, { key, ...put, operation: 'PUT a held image back' })
      } finally {
        await draft.discard()
      }
    },

    remove: (key) => removeObject(client, key),

    async *list(folder, start) {
      for await (const object of listKeys(client, folder, { start, pageKeys }))
        yield { ...object, isMarker: () => isMarker(client, object) }
    },

    time: async (key) => (await headObject(client, key))?.now,
    check: createCheck(client, prefix),
    close: () => client.close(),
  }
}

/** The ETag check saves one request per retired ID, of which there are many after years. */
async function isMarker(client: S3Client, { key, size, etag }: ListedObject): Promise<boolean> {
  if (size !== MARKER.length) return false
  if (etag.replaceAll('"', '') === RETIRED_MD5) return true
  const found = await headObject(client, key)
  return found === null || found.marker !== null
}

/** Headers and body of an image's put, without its condition. Small bodies are bytes; a large one gets a source per attempt. */
async function putOf({ record, draft, segments }: NewImage) {
  const sha256 = record.preview === undefined ? record.sha256 : await draft.digest(segments)
  const headers: Record<string, string> = {
    'content-type': record.type,
    'content-length': String(storedSize(record)),
    'cache-control': cacheControlOf(record),
    'x-amz-content-sha256': sha256,
    'x-amz-checksum-sha256': hexToBase64(sha256),
    [RECORD_HEADER]: encodeRecord(record),
  }
  const isLarge = storedSize(record) > CHUNK_BYTES
  return { headers, body: isLarge ? () => draft.bytes(segments) : await readAll(draft, segments) }
}
