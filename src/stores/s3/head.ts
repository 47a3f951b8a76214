/** What is under a key, without its bytes. */
import type { ImageRecord } from '../object-store.ts'
import { errorOf, isAbsent } from './answer.ts'
import { readAll } from './body.ts'
import type { Patience, S3Client } from './client.ts'
import { decodeRecord, RECORD_HEADER } from './record.ts'

/** An object that only marks that its image is being removed. See `removal.ts`. */
export const GRAVESTONE_HEADER = 'x-amz-meta-removed'

export interface Look {
  etag: string
  /** Who put the gravestone. `null` if the object is none. */
  gravestone: string | null
  /** Epoch milliseconds, by the store's clock; and that clock now. */
  modifiedAt: number
  now: number
  /** Throws `DamagedObject` if the object carries no sound record of `id`. */
  record(id: string): ImageRecord
}

/**
 * One round trip. A GET of one byte and not a HEAD: the answer to a HEAD has no body, so that its 404 could not tell
 * a missing image from a missing bucket or a stray proxy.
 */
export async function lookAt(
  client: S3Client,
  key: string,
  patience?: Partial<Patience>,
): Promise<Look | null> {
  const doing = 'GET the record of an image'
  const request = { method: 'GET', key, headers: { range: 'bytes=0-0' }, doing } as const
  const { value: response, failure } = await client.open(request, patience)
  if (response !== null) {
    // Read and not cancelled, so that the connection can be used again.
    if (response.status === 206) await readAll(response, 1, client.patience.idleMs).catch(() => {})
    else await response.body?.cancel()
    return lookOf(response.headers)
  }
  if (isAbsent(failure!)) return null
  if (failure!.status === 416) return lookAtEmpty(client, key)
  throw errorOf(failure!, doing)
}

/** No byte of an empty object can be asked for. */
async function lookAtEmpty(client: S3Client, key: string): Promise<Look | null> {
  const doing = 'HEAD an empty image'
  const { value: response, failure } = await client.open({ method: 'HEAD', key, doing })
  if (response !== null) return lookOf(response.headers)
  if (failure!.status === 404) return null
  throw errorOf(failure!, doing)
}

function lookOf(headers: Headers): Look {
  return {
    etag: headers.get('etag') ?? '',
    gravestone: headers.get(GRAVESTONE_HEADER),
    modifiedAt: Date.parse(headers.get('last-modified') ?? ''),
    now: Date.parse(headers.get('date') ?? ''),
    record: (id) => decodeRecord(id, headers.get(RECORD_HEADER)),
  }
}
