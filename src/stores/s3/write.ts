/** Writes an image and its record in one put. */
import { hexToBase64 } from '../../bytes.ts'
import { lengthOf, PIECE_BYTES } from '../../formats/image.ts'
import type { NewImage } from '../bucket/draft.ts'
import { heldCopyOf, heldFolder, MAX_ROUNDS } from '../bucket/markers.ts'
import { cacheControlOf, encodeRecord } from '../bucket/record.ts'
import { IdTaken, type ImageRecord, StoreUnavailable, storedSize } from '../object-store.ts'
import { errorOf } from './answer.ts'
import type { RetryPolicy, S3Client } from './client.ts'
import { headObject, type Overwrite, RECORD_HEADER } from './objects.ts'

/** Throws `IdTaken` if something is under the key, what `S3Client` throws, `StoreFull`. */
export async function commitObject(client: S3Client, key: string, image: NewImage): Promise<void> {
  const { record } = image
  const doing = 'PUT an image'
  const { headers, body } = await putOf(image)
  const request = { method: 'PUT', key, headers: { ...headers, 'if-none-match': '*' }, body, doing } as const
  const answer = await client.ask(request).catch(async (error) => {
    // The last attempt may have been carried out, and only its reply lost. The client has waited for all attempts, and
    // hosts cut connections that are idle for 30 s, so this check is short.
    const once = { attempts: 1, idleMs: client.retryPolicy.idleMs / 2 }
    if (error instanceof StoreUnavailable && (await isOurs(client, key, record, once))) return null
    throw error
  })
  if (answer === null || answer.failure === null) return
  if (answer.failure.status !== 412) throw errorOf(answer.failure, doing)
  if (answer.isRepeated && (await isOurs(client, key, record))) return
  throw new IdTaken()
}

/** The hash of the deletion key tells our image from any other; the time tells it from a double sent at once. */
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

/**
 * Puts a sound image in place of a damaged one, on condition that this is still the one that was read. Answers where it
 * is, `null` if nothing is there.
 */
export async function replaceObject(
  { client, overwrite, prefix }: { client: S3Client; overwrite: Overwrite; prefix: string },
  image: NewImage,
): Promise<'visible' | 'held' | null> {
  const key = prefix + image.record.id
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const found = await headObject(client, key)
    if (found === null) return null
    const put = await putOf(image)
    const copyName = heldCopyOf(found)
    if (copyName !== null) {
      // If no marker names the copy any more it is no image, and is cleared away.
      const doing = 'PUT a held image anew'
      const { failure } = await client.ask({
        method: 'PUT',
        key: heldFolder(prefix) + copyName,
        ...put,
        doing,
      })
      if (failure !== null) throw errorOf(failure, doing)
      return 'held'
    }
    if (found.marker !== null) return null
    const doing = 'PUT an image anew'
    const { outcome, isRepeated } = await overwrite(found.etag, { key, ...put, doing })
    if (outcome === 'done') return 'visible'
    if (typeof outcome !== 'string') throw errorOf(outcome, doing)
    // A first attempt may have been carried out, and its reply lost: then the next round puts the same once more.
    if (!isRepeated && (await headObject(client, key)) === null) return null
  }
  throw new StoreUnavailable({ cause: new Error('others kept changing the image that was to be replaced') })
}

/** Headers and body of a put, without its condition. A small body is bytes, a large one a source for every attempt. */
export async function putOf({ record, draft, segments }: NewImage) {
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
