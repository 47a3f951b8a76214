/** Writes an image and its record in one put. */
import { hexToBase64 } from '../../bytes.ts'
import { type ByteSource, lengthOf, PIECE_BYTES, type Segment } from '../../formats/image.ts'
import { RAW_MAX_AGE_SECONDS } from '../../protocol.ts'
import { IdTaken, type ImageRecord, StoreUnavailable } from '../object-store.ts'
import { errorOf } from './answer.ts'
import type { RetryPolicy, S3Client } from './client.ts'
import { headObject } from './head.ts'
import { encodeRecord, RECORD_HEADER } from './record.ts'

/** What a draft needs of where it keeps its bytes. `spool.ts` has it on Node. */
export interface DraftBytes extends ByteSource {
  /** SHA-256 of what `segments` say, lower-case hex. */
  digest(segments: Segment[]): Promise<string>
  /** What `segments` say, in pieces; from the start for every call. */
  bytes(segments: Segment[]): AsyncIterable<Uint8Array>
  discard(): Promise<void>
}

export async function commitObject(
  client: S3Client,
  key: string,
  image: { record: ImageRecord; draft: DraftBytes; segments: Segment[] },
): Promise<void> {
  const { record, draft, segments } = image
  if (lengthOf(segments) !== record.size) throw new Error('the record’s size is not that of the segments')
  const doing = 'PUT an image'
  const answer = await client
    .ask({
      method: 'PUT',
      key,
      headers: { ...headersOf(record), 'if-none-match': '*' },
      body: await bodyOf(draft, segments),
      doing,
    })
    .catch(async (error) => {
      // The last attempt may have been carried out, and only its reply lost.
      const isStored =
        error instanceof StoreUnavailable && (await isOurs(client, key, record, lastLook(client.retryPolicy)))
      if (isStored) return null
      throw error
    })
  if (answer === null || answer.failure === null) return
  if (answer.failure.status !== 412) throw errorOf(answer.failure, doing)
  if (answer.isRepeated && (await isOurs(client, key, record))) return
  throw new IdTaken()
}

/** Of a put, beside its condition. */
export function headersOf(record: ImageRecord): Record<string, string> {
  return {
    'content-type': record.type,
    'content-length': String(record.size),
    'cache-control': `public, max-age=${RAW_MAX_AGE_SECONDS}, immutable`,
    'x-amz-content-sha256': record.sha256,
    'x-amz-checksum-sha256': hexToBase64(record.sha256),
    [RECORD_HEADER]: encodeRecord(record),
  }
}

/** The hash of the deletion key tells our image from any other, but one that was sent twice at once: the time does. */
async function isOurs(
  client: S3Client,
  key: string,
  { id, keySha256, sha256, createdAt }: ImageRecord,
  retryPolicy?: Partial<RetryPolicy>,
): Promise<boolean> {
  try {
    const stored = (await headObject(client, key, retryPolicy))?.record(id)
    return stored?.keySha256 === keySha256 && stored.sha256 === sha256 && stored.createdAt === createdAt
  } catch (error) {
    if (error instanceof StoreUnavailable && retryPolicy === undefined) throw error
    return false
  }
}

/** Short: whoever uploads has waited for all attempts, and hosts cut connections that are idle for 30 s. */
function lastLook({ idleMs }: RetryPolicy): Partial<RetryPolicy> {
  return { attempts: 1, idleMs: idleMs / 2 }
}

/** For a put: bytes that are few, or a source of them for every attempt. */
export async function bodyOf(draft: DraftBytes, segments: Segment[]) {
  return lengthOf(segments) <= PIECE_BYTES ? readSegments(draft, segments) : () => draft.bytes(segments)
}

async function readSegments(draft: DraftBytes, segments: Segment[]): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(lengthOf(segments))
  let at = 0
  for await (const piece of draft.bytes(segments)) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}
