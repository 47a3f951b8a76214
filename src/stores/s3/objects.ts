/** HEAD, LIST and DELETE of objects. */
import { MARKER_NAME, RELEASE_NAME } from '../bucket/markers.ts'
import { decodeRecord, RECORD_NAME } from '../bucket/record.ts'
import type { ObjectHead } from '../bucket/store.ts'
import { type RetryPolicy, readAll, type S3Client, type S3Request } from './client.ts'
import { elementsOf, errorOf, isAbsent, textOf } from './response.ts'
import type { Reply } from './transport.ts'

/** An image's record. */
export const RECORD_HEADER = `x-amz-meta-${RECORD_NAME}`

/** A marker's text. Images lack this header. See `bucket/markers.ts`. */
export const MARKER_HEADER = `x-amz-meta-${MARKER_NAME}`

/** Token of the release that restored an image. See `bucket/markers.ts`. */
export const RELEASE_HEADER = `x-amz-meta-${RELEASE_NAME}`

interface S3ObjectHead extends ObjectHead {
  /** The store's clock, epoch milliseconds. */
  now: number
}

/**
 * One round trip; `null` if the object does not exist. Uses a GET of one byte instead of a HEAD, whose response has no body:
 * its 404 could not distinguish a missing image from a missing bucket or a stray proxy.
 */
export async function headObject(
  client: S3Client,
  key: string,
  options: Pick<S3Request, 'deadline' | 'retryPolicy'> = {},
): Promise<S3ObjectHead | null> {
  const { value: reply, failure } = await client.open({
    method: 'GET',
    key,
    headers: { range: 'bytes=0-0' },
    ...options,
    operation: 'GET the record of an image',
  })
  if (failure === null) {
    // Read rather than cancelled, so that the connection can be reused.
    if (reply.status === 206) await readAll(reply.body, 1).catch(() => {})
    else reply.body.cancel()
    return headOf(reply)
  }
  if (isAbsent(failure)) return null
  if (failure.status === 416) return headEmptyObject(client, key)
  throw errorOf(failure)
}

/** An empty object satisfies no byte range, so it needs a real HEAD. */
async function headEmptyObject(client: S3Client, key: string): Promise<S3ObjectHead | null> {
  const { value, failure } = await client.open({ method: 'HEAD', key, operation: 'HEAD an empty image' })
  if (failure === null) return headOf(value)
  if (failure.status === 404) return null
  throw errorOf(failure)
}

function headOf({ header }: Reply): S3ObjectHead {
  const now = Date.parse(header('date') ?? '')
  return {
    etag: header('etag') ?? '',
    marker: header(MARKER_HEADER),
    release: header(RELEASE_HEADER),
    ageMs: now - Date.parse(header('last-modified') ?? ''),
    now,
    record: (id) => decodeRecord(id, header(RECORD_HEADER)),
  }
}

export interface ListedObject {
  key: string
  size: number
  etag: string
  /** Epoch milliseconds, by the store's clock. */
  modifiedAt: number
}

/** Maximum page size of Amazon and most others. */
const PAGE_KEYS = 1000

/** The keys directly below `prefix` that sort after `prefix + start`, in order (ListObjectsV2). */
export async function* listKeys(
  client: S3Client,
  prefix: string,
  { pageKeys = PAGE_KEYS, start = '' } = {},
): AsyncGenerator<ListedObject> {
  // The delimiter collapses other folders in the bucket to one entry each.
  const query: Record<string, string> = {
    'list-type': '2',
    'max-keys': String(pageKeys),
    prefix,
    delimiter: '/',
  }
  if (start !== '') query['start-after'] = prefix + start
  for (;;) {
    const { value: page, failure } = await client.request({ method: 'GET', query, operation: 'LIST images' })
    if (failure !== null) throw errorOf(failure)
    for (const entry of elementsOf(page, 'Contents')) {
      yield {
        key: textOf(entry, 'Key') ?? '',
        size: Number(textOf(entry, 'Size')),
        etag: textOf(entry, 'ETag') ?? '',
        modifiedAt: Date.parse(textOf(entry, 'LastModified') ?? ''),
      }
    }
    const token = textOf(page, 'NextContinuationToken')
    if (token === null) {
      if (textOf(page, 'IsTruncated') !== 'true') return
      throw new Error('the object store truncated a listing without a continuation token')
    }
    delete query['start-after']
    query['continuation-token'] = token
  }
}

/** Idempotent. */
export async function removeObject(
  client: S3Client,
  key: string,
  retryPolicy?: Partial<RetryPolicy>,
): Promise<void> {
  const { failure } = await client.request({
    method: 'DELETE',
    key,
    retryPolicy,
    operation: 'DELETE an object',
  })
  if (failure !== null && !isAbsent(failure)) throw errorOf(failure)
}
