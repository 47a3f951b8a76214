/**
 * Removes an image so that exactly one remover is told that it was there.
 *
 * A DELETE does not say whether there was anything to delete, and few stores take a condition on one. So the image is
 * first overwritten, on condition that it is still the one that was read, by a tombstone of a few bytes: only
 * one remover can do that, and from then on the image is gone for every reader. Then the tombstone is deleted. A
 * crash between the two leaves a tombstone, which reads as absent; the next removal of the id clears it away.
 *
 * The tombstone of a retired id stays: a put that is to find nothing never succeeds there again.
 */
import { type Removal, StoreUnavailable } from '../object-store.ts'
import { errorOf, isAbsent, isFull } from './answer.ts'
import type { S3Client } from './client.ts'
import { type FoundObject, headObject, heldCopyOf, isRetired, RETIRED, TOMBSTONE_HEADER } from './head.ts'
import type { Overwrite } from './overwrite.ts'

/** No image is so small, but the contract's: a listing looks closer at objects of this size. */
export const TOMBSTONE = new TextEncoder().encode('removed')

/** As long. What a listing of most stores says of it is its MD5; those that encrypt say something else. */
export const RETIRED_TOMBSTONE = new TextEncoder().encode('retired')
export const RETIRED_MD5 = 'a5597e8979d5ae6e4c58a4bc14cefd05'

/** A tombstone of this age has lost its remover. Unit: milliseconds. */
const FORSAKEN_MS = 60_000

/** Each round is lost only to another remover or a new image of the same id. */
const MAX_ROUNDS = 5

/** Removes the object under a key. `false` if there was no image. */
export function createRemover(
  client: S3Client,
  overwrite: Overwrite,
): (key: string, removal?: Removal) => Promise<boolean> {
  /** `false` if the object is not the one with this ETag: looking again shows what became of it. */
  async function mark(key: string, etag: string, mine: string, removal?: Removal): Promise<boolean> {
    const doing = 'PUT a tombstone'
    const headers = { 'cache-control': 'no-store', [TOMBSTONE_HEADER]: mine }
    const body = removal === undefined ? TOMBSTONE : RETIRED_TOMBSTONE
    const { outcome } = await overwrite(etag, { key, headers, body, doing })
    if (typeof outcome === 'string') return outcome === 'done'
    // A full store has no room for a tombstone, but images must go. Two removers may then both be told.
    if (!isFull(outcome) || removal?.retire === 'surely') throw errorOf(outcome, doing)
    await removeObject(client, key)
    return true
  }

  /** The image is gone already. A tombstone that stays harms nobody. */
  async function bury(key: string, removal?: Removal): Promise<true> {
    if (removal === undefined) await removeObject(client, key).catch(() => {})
    return true
  }

  return async (key, removal) => {
    const mine = (removal === undefined ? '' : RETIRED) + crypto.randomUUID()
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const found = await headObject(client, key)
      if (found === null) return false
      if (found.tombstone === mine) return bury(key, removal)
      if (found.tombstone !== null) {
        if (isForsaken(found) && heldCopyOf(found) === null && !isRetired(found)) await bury(key)
        return false
      }
      if (await mark(key, found.etag, mine, removal)) return bury(key, removal)
    }
    throw new StoreUnavailable({ cause: new Error('others kept changing the object that was to be removed') })
  }
}

/** Nothing there is as good. */
export async function removeObject(client: S3Client, key: string): Promise<void> {
  const doing = 'DELETE an object'
  const { failure } = await client.ask({ method: 'DELETE', key, doing })
  if (failure !== null && !isAbsent(failure)) throw errorOf(failure, doing)
}

function isForsaken({ now, modifiedAt }: FoundObject): boolean {
  return now - modifiedAt > FORSAKEN_MS
}
