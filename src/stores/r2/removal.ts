/**
 * Removes an image so that exactly one remover is told that it was there: a delete does not say whether there was anything
 * to delete. The image is first overwritten by a tombstone, on condition that it is still the one that was read. See
 * `stores/s3/tombstones.ts`, whose objects these are.
 */
import {
  FORSAKEN_TOMBSTONE_MS,
  heldCopyOf,
  isRetired,
  MAX_ROUNDS,
  RETIRED,
  RETIRED_TOMBSTONE,
  TOMBSTONE,
} from '../bucket/tombstones.ts'
import { type Removal, StoreUnavailable } from '../object-store.ts'
import type { Bucket } from './bucket.ts'
import { foundIn, tombstoneOptions } from './found.ts'

/** Removes the object under a key. `false` if there was no image. */
export async function removeImage(
  bucket: Bucket,
  key: string,
  { removal, now }: { removal: Removal | undefined; now: number },
): Promise<boolean> {
  const mine = (removal === undefined ? '' : RETIRED) + crypto.randomUUID()
  const body = removal === undefined ? TOMBSTONE : RETIRED_TOMBSTONE
  /** The image is gone already. A tombstone that stays harms nobody. */
  const bury = async () => {
    if (removal === undefined) await bucket.delete(key).catch(() => {})
    return true
  }
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const object = await bucket.head(key)
    if (object === null) return false
    const found = foundIn(object)
    if (found.tombstone === mine) return bury()
    if (found.tombstone !== null) {
      const isForsaken = now - found.modifiedAt > FORSAKEN_TOMBSTONE_MS
      if (isForsaken && heldCopyOf(found) === null && !isRetired(found))
        await bucket.delete(key).catch(() => {})
      return false
    }
    const { isDone } = await bucket.put({
      key,
      send: (put) => put(body),
      onlyIf: { etagMatches: found.etag },
      ...tombstoneOptions(mine),
    })
    if (isDone) return bury()
  }
  throw new StoreUnavailable({ cause: new Error('others kept changing the object that was to be removed') })
}
