/**
 * Removes an image so that exactly one remover is told that it was there: a delete does not say whether there was anything
 * to delete. The image is first overwritten by a marker, on condition that it is still the one that was read. See
 * `stores/bucket/markers.ts`, whose objects these are.
 */
import {
  FORSAKEN_MARKER_MS,
  heldCopyOf,
  isRetired,
  MARKER,
  MAX_ROUNDS,
  RETIRED,
  RETIRED_MARKER,
} from '../bucket/markers.ts'
import { type Removal, StoreUnavailable } from '../object-store.ts'
import type { Bucket } from './bucket.ts'
import { foundIn, markerOptions } from './found.ts'

/** Removes the object under a key. `false` if there was no image. */
export async function removeImage(
  bucket: Bucket,
  key: string,
  { removal, now }: { removal: Removal | undefined; now: number },
): Promise<boolean> {
  const mine = (removal === undefined ? '' : RETIRED) + crypto.randomUUID()
  const body = removal === undefined ? MARKER : RETIRED_MARKER
  /** The image is gone already. A marker that stays harms nobody. */
  const bury = async () => {
    if (removal === undefined) await bucket.delete(key).catch(() => {})
    return true
  }
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const object = await bucket.head(key)
    if (object === null) return false
    const found = foundIn(object)
    if (found.marker === mine) return bury()
    if (found.marker !== null) {
      const isForsaken = now - found.modifiedAt > FORSAKEN_MARKER_MS
      if (isForsaken && heldCopyOf(found) === null && !isRetired(found))
        await bucket.delete(key).catch(() => {})
      return false
    }
    const { isDone } = await bucket.put({
      key,
      send: (put) => put(body),
      onlyIf: { etagMatches: found.etag },
      ...markerOptions(mine),
    })
    if (isDone) return bury()
  }
  throw new StoreUnavailable({ cause: new Error('others kept changing the object that was to be removed') })
}
