/** What is under a key, without its bytes. */
import type { ImageRecord } from '../object-store.ts'
import { errorOf, isAbsent } from './answer.ts'
import { readAll } from './body.ts'
import type { RetryPolicy, S3Client } from './client.ts'
import { decodeRecord, RECORD_HEADER } from './record.ts'
import type { Reply } from './transport.ts'

/** An object that only marks that its image is being removed. See `removal.ts`. */
export const TOMBSTONE_HEADER = 'x-amz-meta-removed'

/** What a tombstone says whose image is held: `held ` and the name of its copy. See `hold.ts`. */
const HELD = /^held (.+)$/

/** What the tombstone of a retired id says, before anything else: it stays. See `removal.ts`. */
export const RETIRED = 'retired '

/** Which release brought an image back. See `hold.ts`. */
export const RELEASE_HEADER = 'x-amz-meta-release'

export interface FoundObject {
  etag: string
  /** Who put the tombstone. `null` if the object is none. */
  tombstone: string | null
  /** Which release brought it back. `null` if none did. */
  release: string | null
  /** Epoch milliseconds, by the store's clock; and that clock now. */
  modifiedAt: number
  now: number
  /** Throws `DamagedObject` if the object carries no sound record of `id`. */
  record(id: string): ImageRecord
}

/** The name of the copy that this tombstone stands for, if its image is held and not gone. */
export function heldCopyOf({ tombstone }: FoundObject): string | null {
  return HELD.exec(tombstone ?? '')?.[1] ?? null
}

export function isRetired({ tombstone }: FoundObject): boolean {
  return tombstone?.startsWith(RETIRED) === true
}

/**
 * One round trip. A GET of one byte and not a HEAD: the answer to a HEAD has no body, so that its 404 could not tell
 * a missing image from a missing bucket or a stray proxy.
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
  return {
    etag: header('etag') ?? '',
    tombstone: header(TOMBSTONE_HEADER),
    release: header(RELEASE_HEADER),
    modifiedAt: Date.parse(header('last-modified') ?? ''),
    now: Date.parse(header('date') ?? ''),
    record: (id) => decodeRecord(id, header(RECORD_HEADER)),
  }
}
