/**
 * Images out of sight: a marker under the image's own key names a copy, `<prefix>held/<id>.<token>`. See
 * `stores/bucket/markers.ts`, whose objects these are. The binding copies nothing, so the bytes pass through here.
 */
import { ID_PATTERN } from '../../protocol.ts'
import {
  FORSAKEN_COPY_MS,
  GOING,
  heldCopyOf,
  heldFolder,
  isRetired,
  listingStart,
  MARKER,
  MAX_ROUNDS,
  RELEASE_NAME,
  RETIRED,
  RETIRED_MARKER,
  UNHELD,
} from '../bucket/markers.ts'
import { type HeldImages, StoreUnavailable } from '../object-store.ts'
import type { R2ObjectBody } from './binding.ts'
import type { Bucket } from './bucket.ts'
import { type Found, foundIn, markerOptions, optionsOf } from './found.ts'
import { openObject, recordAt } from './read.ts'
import { putPieces } from './runtime.ts'

export function holdObjects(bucket: Bucket, prefix: string): HeldImages {
  const folder = heldFolder(prefix)
  const keyOf = (id: string) => prefix + id

  async function find(id: string): Promise<Found | null> {
    const object = ID_PATTERN.test(id) ? await bucket.head(keyOf(id)) : null
    return object && foundIn(object)
  }

  /** The marker of a held image, and its copy's key. */
  async function heldAt(id: string): Promise<{ found: Found; copyKey: string } | null> {
    const found = await find(id)
    const name = found && heldCopyOf(found)
    return found && name ? { found, copyKey: folder + name } : null
  }

  /** Completes the removal of a process that died. */
  async function finishRemoval(id: string): Promise<void> {
    const found = await find(id)
    const copy = GOING.exec(found?.marker ?? '')?.[1]
    if (found === null || copy === undefined) return
    await bucket.delete(folder + copy)
    if (!isRetired(found)) await bucket.delete(keyOf(id))
  }

  async function hold(id: string): Promise<boolean> {
    if (!ID_PATTERN.test(id)) return false
    const name = `${id}.${crypto.randomUUID()}`
    // As long as other markers, and never twice the same: neither is its ETag.
    const body = crypto.getRandomValues(new Uint8Array(MARKER.length))
    // Nothing is acknowledged that another process took for forsaken.
    const isCopied = async () => (await bucket.head(folder + name)) !== null
    const startedAt = performance.now()
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const found = await find(id)
      if (found !== null && heldCopyOf(found) === name) return isCopied()
      if (found === null || found.marker !== null) {
        if (round > 0) await bucket.delete(folder + name)
        return false
      }
      if (!(await copy(bucket, { from: keyOf(id), etag: found.etag, to: folder + name }))) continue
      // Its copy may be cleared away soon.
      if (performance.now() - startedAt > FORSAKEN_COPY_MS / 2) break
      const { isDone } = await bucket.put({
        key: keyOf(id),
        send: (put) => put(body),
        onlyIf: { etagMatches: found.etag },
        ...markerOptions(`held ${name}`),
      })
      if (isDone) return isCopied()
    }
    throw new StoreUnavailable({ cause: new Error('others kept changing the image that was to be held') })
  }

  async function release(id: string): Promise<boolean> {
    const held = await heldAt(id)
    if (held === null) return false
    const object = await bucket.get(held.copyKey)
    // Somebody else released or removed it since.
    if (object === null) return false
    const record = foundIn(object).record(id)
    const mine = crypto.randomUUID()
    const { isDone, isRepeated } = await bucket.put({
      key: keyOf(id),
      send: sendingFrom(bucket, object, held.copyKey),
      onlyIf: { etagMatches: held.found.etag },
      ...optionsOf(record, undefined, { [RELEASE_NAME]: mine }),
    })
    const isOurs = isDone || (isRepeated && (await find(id))?.release === mine)
    if (isOurs) await bucket.delete(held.copyKey)
    return isOurs
  }

  /**
   * The bucket's clock, which only a write tells. One that is ahead here must not take a copy for old whose marker is on its
   * way. Unit: epoch milliseconds.
   */
  async function bucketTime(): Promise<number> {
    const key = `${prefix}checks/clock`
    const { stored } = await bucket.put({ key, send: (put) => put(MARKER) })
    await bucket.delete(key)
    return stored!.uploaded.getTime()
  }

  return {
    hold,
    release,

    async headHeld(id) {
      const held = await heldAt(id)
      return held && recordAt({ bucket, id, key: held.copyKey })
    },

    async openHeld(id, selection) {
      const held = await heldAt(id)
      return held && openObject({ bucket, id, key: held.copyKey }, selection)
    },

    async removeHeld(id, removal) {
      const held = await heldAt(id)
      if (held === null) {
        await finishRemoval(id)
        return false
      }
      const retires = removal !== undefined
      const mine = `${retires ? RETIRED : UNHELD}${held.copyKey.slice(folder.length)} ${crypto.randomUUID()}`
      const { isDone, isRepeated } = await bucket.put({
        key: keyOf(id),
        send: (put) => put(retires ? RETIRED_MARKER : MARKER),
        onlyIf: { etagMatches: held.found.etag },
        ...markerOptions(mine),
      })
      // A first attempt may have been carried out, and its answer lost.
      if (!isDone && !(isRepeated && (await find(id))?.marker === mine)) return false
      await bucket.delete(held.copyKey)
      if (!retires) await bucket.delete(keyOf(id)).catch(() => {})
      return true
    },

    async *listHeld(after = '') {
      let time: number | undefined
      for await (const { key, uploaded } of bucket.list(folder, listingStart(after))) {
        const name = key.slice(folder.length)
        const id = name.slice(0, name.indexOf('.'))
        if (id <= after) continue
        const held = await heldAt(id)
        if (held?.copyKey === key) yield id
        else if (ID_PATTERN.test(id)) {
          time ??= await bucketTime()
          if (time - uploaded.getTime() > FORSAKEN_COPY_MS) await bucket.delete(key)
        }
      }
    },
  }
}

/** As it is, damage and all. `false` if the object is another one by now. */
async function copy(
  bucket: Bucket,
  { from, etag, to }: { from: string; etag: string; to: string },
): Promise<boolean> {
  const object = await bucket.get(from, etag)
  if (object === null) return false
  await bucket.put({
    key: to,
    send: sendingFrom(bucket, object, from),
    customMetadata: foundIn(object).metadata,
  })
  return true
}

/** The first attempt sends what was opened; a later one opens the same object again. */
function sendingFrom(bucket: Bucket, first: R2ObjectBody, key: string) {
  let opened: R2ObjectBody | null = first
  return async <T>(put: (value: never) => Promise<T>): Promise<T> => {
    const object = opened ?? (await bucket.get(key, first.etag))
    opened = null
    if (object === null) throw new StoreUnavailable({ cause: new Error('the object to be copied is gone') })
    return putPieces(object.body, object.size, put as never)
  }
}
