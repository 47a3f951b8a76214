/** Objects of a bucket: HEAD, LIST and DELETE. */
import { MARKER_NAME, RELEASE_NAME } from '../bucket/markers.ts'
import { decodeRecord, RECORD_NAME } from '../bucket/record.ts'
import type { Found } from '../bucket/store.ts'
import { elementsOf, errorOf, isAbsent, textOf } from './answer.ts'
import { type RetryPolicy, readAll, type S3Client } from './client.ts'
import type { Reply } from './transport.ts'

/** The record of an image, in its object's user metadata. */
export const RECORD_HEADER = `x-amz-meta-${RECORD_NAME}`

/** An object with this header is a marker and no image. See `bucket/markers.ts`. */
export const MARKER_HEADER = `x-amz-meta-${MARKER_NAME}`

/** Which release brought a held image back. See `bucket/markers.ts`. */
export const RELEASE_HEADER = `x-amz-meta-${RELEASE_NAME}`

interface FoundObject extends Found {
  /** The store's clock, epoch milliseconds. */
  now: number
}

/**
 * One round trip; `null` if nothing is there. A GET of one byte and not a HEAD: the answer to a HEAD has no body, so its
 * 404 could not tell a missing image from a missing bucket or a stray proxy.
 */
export async function headObject(
  client: S3Client,
  key: string,
  retryPolicy?: Partial<RetryPolicy>,
  answerBy?: number,
): Promise<FoundObject | null> {
  const doing = 'GET the record of an image'
  const request = { method: 'GET', key, headers: { range: 'bytes=0-0' }, answerBy, doing } as const
  const { value: reply, failure } = await client.open(request, retryPolicy)
  if (reply !== null) {
    // Read and not cancelled, so that the connection can be used again.
    if (reply.status === 206) await readAll(reply.body, 1).catch(() => {})
    else reply.body.cancel()
    return foundIn(reply)
  }
  if (isAbsent(failure!)) return null
  if (failure!.status === 416) return headEmptyObject(client, key)
  throw errorOf(failure!, doing)
}

/** No byte of an empty object can be asked for. */
async function headEmptyObject(client: S3Client, key: string): Promise<FoundObject | null> {
  const doing = 'HEAD an empty image'
  const { value: reply, failure } = await client.open({ method: 'HEAD', key, doing })
  if (reply !== null) return foundIn(reply)
  if (failure!.status === 404) return null
  throw errorOf(failure!, doing)
}

function foundIn({ header }: Reply): FoundObject {
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

/** What Amazon and most others give at most. */
const PAGE_KEYS = 1000

/** The keys directly below `prefix` that sort after `prefix + start`, in order (ListObjectsV2). */
export async function* listKeys(
  client: S3Client,
  prefix: string,
  { pageKeys = PAGE_KEYS, start = '' } = {},
): AsyncGenerator<ListedObject> {
  const doing = 'LIST images'
  // With the delimiter, whatever else is in the bucket below a folder of its own is one entry, not a thousand.
  const query: Record<string, string> = {
    'list-type': '2',
    'max-keys': String(pageKeys),
    prefix,
    delimiter: '/',
  }
  if (start !== '') query['start-after'] = prefix + start
  for (;;) {
    const { value, failure } = await client.ask({ method: 'GET', query, doing })
    if (failure !== null) throw errorOf(failure, doing)
    const page = value!
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
      throw new Error('the object store cut a listing short and does not say how to go on')
    }
    delete query['start-after']
    query['continuation-token'] = token
  }
}

/** Succeeds too if nothing is there. */
export async function removeObject(
  client: S3Client,
  key: string,
  retryPolicy?: Partial<RetryPolicy>,
): Promise<void> {
  const doing = 'DELETE an object'
  const { failure } = await client.ask({ method: 'DELETE', key, doing }, retryPolicy)
  if (failure !== null && !isAbsent(failure)) throw errorOf(failure, doing)
}
