/** Puts an image and its record, as one object. */
import { PIECE_BYTES } from '../../formats/image.ts'
import type { NewImage } from '../bucket/draft.ts'
import { heldCopyOf, heldFolder, MAX_ROUNDS } from '../bucket/markers.ts'
import { IdTaken, type ImageRecord, StoreUnavailable, storedSize } from '../object-store.ts'
import type { R2Object, R2PutOptions, R2Value } from './binding.ts'
import type { Bucket } from './bucket.ts'
import { foundIn, optionsOf } from './found.ts'
import { putPieces } from './runtime.ts'

export async function commitObject(bucket: Bucket, key: string, image: NewImage): Promise<void> {
  const { record } = image
  const put = { key, send: sending(image), onlyIf: { etagDoesNotMatch: '*' }, ...(await optionsFor(image)) }
  const { isDone, isRepeated } = await bucket.put(put).catch(async (error) => {
    // The last attempt may have been carried out, and only its answer lost.
    const isStored =
      error instanceof StoreUnavailable && (await isOurs(bucket, key, record).catch(() => false))
    if (isStored) return { isDone: true, isRepeated: true }
    throw error
  })
  if (isDone || (isRepeated && (await isOurs(bucket, key, record)))) return
  throw new IdTaken()
}

/** Puts a sound image in place of a damaged one, on condition that this is still the one that was read. */
export async function replaceObject(
  bucket: Bucket,
  prefix: string,
  image: NewImage,
): Promise<'visible' | 'held' | null> {
  const key = prefix + image.record.id
  const more = { send: sending(image), ...(await optionsFor(image)) }
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const object = await bucket.head(key)
    if (object === null) return null
    const found = foundIn(object)
    const copyName = heldCopyOf(found)
    if (copyName !== null) {
      // A copy that no marker names any more is nobody's image, and is cleared away.
      await bucket.put({ key: heldFolder(prefix) + copyName, ...more })
      return 'held'
    }
    if (found.marker !== null) return null
    const { isDone, isRepeated } = await bucket.put({ key, onlyIf: { etagMatches: found.etag }, ...more })
    if (isDone) return 'visible'
    // A first attempt may have been carried out: then the next round puts the same once more.
    if (!isRepeated && (await bucket.head(key)) === null) return null
  }
  throw new StoreUnavailable({ cause: new Error('others kept changing the image that was to be replaced') })
}

async function optionsFor({ record, draft, segments }: NewImage): Promise<R2PutOptions> {
  return optionsOf(record, record.preview && (await draft.digest(segments)))
}

/** Few bytes as they are; more of them piece by piece. */
export function sending({ record, draft, segments }: NewImage) {
  return async (put: (value: R2Value) => Promise<R2Object | null>): Promise<R2Object | null> => {
    const [only, ...others] = segments
    if (
      storedSize(record) <= PIECE_BYTES &&
      only !== undefined &&
      others.length === 0 &&
      !(only instanceof Uint8Array)
    ) {
      return put((await draft.read(only.offset, only.length)) as Uint8Array<ArrayBuffer>)
    }
    return putPieces(draft.bytes(segments), storedSize(record), put)
  }
}

/** The hash of the deletion key tells our image from any other, but one that was sent twice at once: the time does. */
async function isOurs(bucket: Bucket, key: string, record: ImageRecord): Promise<boolean> {
  const object = await bucket.head(key)
  if (object === null || foundIn(object).marker !== null) return false
  const stored = foundIn(object).record(record.id)
  return (
    stored.keySha256 === record.keySha256 &&
    stored.sha256 === record.sha256 &&
    stored.createdAt === record.createdAt
  )
}
