/** `ImageBucket` over the HTTP interface of S3. */
import { hexToBase64 } from '../../bytes.ts'
import { lengthOf, PIECE_BYTES } from '../../formats/image.ts'
import { MARKER } from '../bucket/markers.ts'
import { cacheControlOf, encodeRecord } from '../bucket/record.ts'
import type { BucketStoreOptions, ImageBucket, PutOutcome } from '../bucket/store.ts'
import type { NewImage } from '../drafts/draft.ts'
import { DamagedObject, isCopyOf, piecesOf, StoreUnavailable, storedSize } from '../object-store.ts'
import { errorOf, isAbsent, textOf } from './answer.ts'
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
import { encodeName, type S3Location } from './url.ts'

type Put = Pick<S3Request, 'body' | 'doing'> & { key: string; headers: Record<string, string> }

/** The ETag of a retired id's marker, except in stores that encrypt. */
const RETIRED_MD5 = 'a5597e8979d5ae6e4c58a4bc14cefd05'

export function imagesIn(
  client: S3Client,
  { bucket, prefix }: S3Location,
  { receive, pageKeys }: Pick<BucketStoreOptions, 'receive'> & { pageKeys: number | undefined },
): ImageBucket {
  // RFC 9110 quotes an ETag. Ceph RGW 16 compares that of a put with a bare one.
  let spelling: 'quoted' | 'bare' | null = null

  /** Puts an object over another one, on condition that it is still the one that was read. */
  async function overwrite(etag: string, put: Put): Promise<PutOutcome> {
    let isRepeated = false
    for (const tried of spelling === null ? (['quoted', 'bare'] as const) : [spelling]) {
      const match = tried === 'bare' ? etag.replaceAll('"', '') : etag
      const headers = { ...put.headers, 'if-match': match }
      const answer = await client.ask({ ...put, headers, method: 'PUT' })
      const { failure } = answer
      isRepeated ||= answer.isRepeated
      if (failure === null) {
        spelling = tried
        return { isDone: true, isRepeated }
      }
      // Amazon answers 404 where there is nothing to match, others 412.
      if (failure.code === 'NoSuchKey') break
      if (failure.status !== 412) throw errorOf(failure, put.doing)
    }
    return { isDone: false, isRepeated }
  }

  return {
    async head(key, { answerBy, isQuick = false } = {}) {
      const once = { attempts: 1, idleMs: client.retryPolicy.idleMs / 2 }
      return headObject(client, key, isQuick ? once : undefined, answerBy)
    },

    open: (place, selection) => openObject({ client, ...place }, selection),

    async put(key, image, onlyIf) {
      const put = { key, ...(await putOf(image)), doing: 'PUT an image' }
      if (typeof onlyIf === 'object') return overwrite(onlyIf.etag, put)
      if (onlyIf === 'absent') put.headers['if-none-match'] = '*'
      const { failure, isRepeated } = await client.ask({ ...put, method: 'PUT' })
      const isLost = onlyIf === 'absent' && failure?.status === 412
      if (failure !== null && !isLost) throw errorOf(failure, put.doing)
      return { isDone: failure === null, isRepeated }
    },

    mark(key, etag, text, body) {
      const headers = { 'cache-control': 'no-store', [MARKER_HEADER]: text }
      return overwrite(etag, { key, headers, body, doing: 'PUT a marker' })
    },

    async copy(from, to) {
      const doing = 'COPY an image'
      const source = `/${[bucket, ...from.split('/')].map(encodeName).join('/')}`
      const headers = { 'x-amz-copy-source': source }
      const { value, failure } = await client.ask({ method: 'PUT', key: to, headers, doing })
      if (failure !== null && isAbsent(failure)) return false
      if (failure !== null) throw errorOf(failure, doing)
      // Amazon begins its answer before it is done: an error may follow a 200.
      const code = textOf(value ?? '', 'Code')
      if (code !== null) throw new StoreUnavailable({ cause: new Error(`S3 answered ${code} (${doing})`) })
      return true
    },

    async putBack(copy, { key, etag, release }) {
      const image = await openObject({ client, ...copy }, 'stored')
      if (image === null) return null
      const { record, body } = image
      const draft = await receive(piecesOf(body), storedSize(record))
      try {
        if (!(await isCopyOf(record, draft))) throw new DamagedObject(record.id)
        const put = await putOf({ record, draft, segments: [{ offset: 0, length: draft.size }] })
        put.headers[RELEASE_HEADER] = release
        return await overwrite(etag, { key, ...put, doing: 'PUT a held image back' })
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

/** The ETag saves a request for each retired id: there are many after years. */
async function isMarker(client: S3Client, { key, size, etag }: ListedObject): Promise<boolean> {
  if (size !== MARKER.length) return false
  if (etag.replaceAll('"', '') === RETIRED_MD5) return true
  const found = await headObject(client, key)
  return found === null || found.marker !== null
}

/** Headers and body of an image's put, without its condition. A small body is bytes, a large one a source for every attempt. */
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
  if (lengthOf(segments) > PIECE_BYTES) return { headers, body: () => draft.bytes(segments) }
  const body = new Uint8Array(lengthOf(segments))
  let at = 0
  for await (const piece of draft.bytes(segments)) {
    body.set(piece, at)
    at += piece.length
  }
  return { headers, body }
}
