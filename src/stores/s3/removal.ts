/** Removes images. See `bucket/markers.ts`. */
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
import { errorOf, isFull } from './answer.ts'
import type { S3Client } from './client.ts'
import { headObject, type ListedObject, MARKER_HEADER, type Overwrite, removeObject } from './objects.ts'

/** The ETag of a retired id's marker, except in stores that encrypt. */
const RETIRED_MD5 = 'a5597e8979d5ae6e4c58a4bc14cefd05'

/** Whether a listed object is one. The ETag saves a request for each retired id: there are many after years. */
export async function isMarker(client: S3Client, { key, size, etag }: ListedObject): Promise<boolean> {
  if (size !== MARKER.length) return false
  if (etag.replaceAll('"', '') === RETIRED_MD5) return true
  const found = await headObject(client, key)
  return found === null || found.marker !== null
}

/** Removes the image under a key. `false` if there was none; exactly one of several removers is told `true`. */
export function createRemover(
  client: S3Client,
  overwrite: Overwrite,
): (key: string, removal?: Removal) => Promise<boolean> {
  /** `false` if the object is not the one with this ETag: the next round shows what became of it. */
  async function mark(key: string, etag: string, mine: string, removal?: Removal): Promise<boolean> {
    const doing = 'PUT a marker'
    const { outcome } = await overwrite(etag, { key, ...marker(mine, removal), doing })
    if (typeof outcome === 'string') return outcome === 'done'
    // A full store has no room for a marker, but images must go. Two removers may then both be told.
    if (!isFull(outcome) || removal?.retire === 'surely') throw errorOf(outcome, doing)
    await removeObject(client, key)
    return true
  }

  /** The image is gone already, so a marker that stays is harmless. */
  async function bury(key: string, removal?: Removal): Promise<true> {
    if (removal === undefined) await removeObject(client, key).catch(() => {})
    return true
  }

  return async (key, removal) => {
    const mine = (removal === undefined ? '' : RETIRED) + crypto.randomUUID()
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const found = await headObject(client, key)
      if (found === null) return false
      if (found.marker === mine) return bury(key, removal)
      if (found.marker !== null) {
        const hasDied = found.now - found.modifiedAt > FORSAKEN_MARKER_MS
        if (hasDied && heldCopyOf(found) === null && !isRetired(found)) await bury(key)
        return false
      }
      if (await mark(key, found.etag, mine, removal)) return bury(key, removal)
    }
    throw new StoreUnavailable({ cause: new Error('others kept changing the object that was to be removed') })
  }
}

/** Headers and body of a marker's put. */
export function marker(text: string, removal?: Removal) {
  return {
    headers: { 'cache-control': 'no-store', [MARKER_HEADER]: text },
    body: removal === undefined ? MARKER : RETIRED_MARKER,
  }
}
