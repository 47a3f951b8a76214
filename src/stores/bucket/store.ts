/**
 * `ObjectStore` in a bucket: one object per image, `<prefix><id>`, with its record in user metadata. Removed and held images
 * are represented by markers (`markers.ts`). S3 and R2 each implement the underlying calls as an `ImageBucket`.
 */
import { ID_PATTERN } from '../../protocol.ts'
import { type DraftBytes, draftOf, type NewImage } from '../drafts/draft.ts'
import {
  IdTaken,
  type ImageRecord,
  type ObjectStore,
  type Removal,
  type Selection,
  type StoredImage,
  StoreFull,
  StoreUnavailable,
} from '../object-store.ts'
import {
  ABANDONED_COPY_MS,
  ABANDONED_MARKER_MS,
  HELD_REMOVAL,
  heldCopyOf,
  isRetired,
  listingStart,
  MARKER,
  MAX_ATTEMPTS,
  RETIRED,
  RETIRED_MARKER,
  UNHELD,
} from './markers.ts'

/** Metadata of an object. */
export interface ObjectHead {
  etag: string
  /** The text of the marker. `null` for an image. */
  marker: string | null
  /** Token of the release that restored the image. `null` if it was never held. */
  release: string | null
  /** Time since the object was put. Unit: milliseconds. */
  ageMs: number
  /** Throws `DamagedObject` if the object has no valid record of `id`. */
  record(id: string): ImageRecord
}

export interface ListedKey {
  key: string
  /** Epoch milliseconds, by the bucket's clock. */
  modifiedAt: number
  isMarker(): boolean | Promise<boolean>
}

/** The object of an image. */
export interface ObjectRef {
  id: string
  key: string
  /** When to give up on the response, by the `performance` clock; a stream may continue after it. Default: never. */
  deadline?: number | undefined
}

export interface PutOutcome {
  /** `false`: the condition was not met. */
  isDone: boolean
  /** An earlier attempt may have succeeded although its response was lost. */
  isRetried: boolean
}

/** The calls to a bucket. All throw `StoreUnavailable`, and puts also `StoreFull`. */
export interface ImageBucket {
  /** `isQuick`: a single attempt with a short timeout. */
  head(
    key: string,
    options?: { deadline?: number | undefined; isQuick?: boolean },
  ): Promise<ObjectHead | null>
  /** Implements `ObjectStore.open`. */
  open(ref: ObjectRef, selection?: Selection): Promise<StoredImage | null>
  /** `onlyIf`: the key must be free, or have this ETag. */
  put(key: string, image: NewImage, onlyIf?: 'absent' | { etag: string }): Promise<PutOutcome>
  /** Overwrites the object with a marker if it has this ETag. */
  mark(key: string, etag: string, text: string, body: Uint8Array<ArrayBuffer>): Promise<PutOutcome>
  /** Copies an object as it is, even if it is damaged. `false` if it does not exist. */
  copy(from: string, to: string): Promise<boolean>
  /** Restores an image from its copy, overwriting the marker with this ETag. `null` if the copy is gone. */
  putBack(copy: ObjectRef, over: { key: string; etag: string; release: string }): Promise<PutOutcome | null>
  /** Idempotent. */
  remove(key: string): Promise<void>
  /** The keys directly below `prefix` that sort after `prefix + start`, in ascending order of code units. */
  list(prefix: string, start: string): AsyncIterable<ListedKey>
  /** The bucket's clock, epoch milliseconds. It may be read from the object `key`; `undefined` if there is none. */
  time(key: string): Promise<number | undefined>
  check(): Promise<void>
  close(): Promise<void>
}

export interface BucketStoreOptions {
  prefix: string
  receive(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<DraftBytes>
  /** Timeout of a view, from its first request to its response. Default: none. Unit: milliseconds. */
  viewMs?: number
}

export function openBucketStore(bucket: ImageBucket, options: BucketStoreOptions): ObjectStore {
  const { prefix, receive, viewMs } = options
  /** Key prefix of the copies of held images. */
  const heldFolder = `${prefix}held/`
  const keyOf = (id: string) => prefix + id

  function viewOf(id: string): ObjectRef {
    return { id, key: keyOf(id), deadline: viewMs && performance.now() + viewMs }
  }

  async function find(id: string): Promise<ObjectHead | null> {
    return ID_PATTERN.test(id) ? bucket.head(keyOf(id)) : null
  }

  async function commit(image: NewImage): Promise<void> {
    const { record } = image
    const { isDone, isRetried } = await bucket.put(keyOf(record.id), image, 'absent').catch(async (error) => {
      // The last attempt may have succeeded although its response was lost. All attempts have already used up their
      // timeouts and hosts cut connections that are idle for 30 s, so this check must be quick.
      const isStored =
        error instanceof StoreUnavailable && (await isOurs(record, { isQuick: true }).catch(() => false))
      if (isStored) return { isDone: true, isRetried: true }
      throw error
    })
    if (isDone || (isRetried && (await isOurs(record)))) return
    throw new IdTaken()
  }

  /**
   * Whether the stored image is the one of `record`. The hash of the deletion key tells it from every other image, and
   * `createdAt` from a concurrent duplicate of the same upload.
   */
  async function isOurs(record: ImageRecord, options?: { isQuick: boolean }): Promise<boolean> {
    const found = await bucket.head(keyOf(record.id), options)
    try {
      const stored = recordOf(found, record.id)
      return (
        stored?.keySha256 === record.keySha256 &&
        stored.sha256 === record.sha256 &&
        stored.createdAt === record.createdAt
      )
    } catch {
      return false
    }
  }

  /** Replaces a damaged image with a sound one, on condition that the ETag has not changed. */
  async function replace(image: NewImage): Promise<'visible' | 'held' | null> {
    const key = keyOf(image.record.id)
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const found = await bucket.head(key)
      if (found === null) return null
      const copyName = heldCopyOf(found)
      if (copyName !== null) {
        await bucket.put(heldFolder + copyName, image)
        const after = await bucket.head(key)
        if (after !== null && heldCopyOf(after) === copyName) return 'held'
        // The image was released or removed meanwhile.
        await bucket.remove(heldFolder + copyName)
        continue
      }
      if (found.marker !== null) return null
      const { isDone, isRetried } = await bucket.put(key, image, found)
      if (isDone) return 'visible'
      // After a retry the first request may have succeeded although its response was lost; then the next attempt here puts
      // the same image once more.
      if (!isRetried && (await bucket.head(key)) === null) return null
    }
    throw contended('replaced')
  }

  /** `full`: no room for the marker. The image is then deleted without one, so two concurrent removers may both succeed. */
  async function mark(
    key: string,
    etag: string,
    { text, removal }: { text: string; removal: Removal | undefined },
  ): Promise<PutOutcome | 'full'> {
    try {
      return await bucket.mark(key, etag, text, removal === undefined ? MARKER : RETIRED_MARKER)
    } catch (error) {
      if (error instanceof StoreFull && removal?.retire !== 'surely') return 'full'
      throw error
    }
  }

  /** Removes an image if it is in this state. Of several concurrent removers exactly one gets `true`. */
  async function removeIf(state: 'visible' | 'held', id: string, removal?: Removal): Promise<boolean> {
    if (!ID_PATTERN.test(id)) return false
    const key = keyOf(id)
    const token = crypto.randomUUID()
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const found = await bucket.head(key)
      if (found === null) return false
      const copyName = heldCopyOf(found)
      const isInState = state === 'held' ? copyName !== null : found.marker === null
      if (!isInState) {
        if (found.marker === null || copyName !== null) return false
        const isOurs = found.marker.endsWith(token)
        // Another remover may still be at work. Only a remaining copy is urgent; otherwise wait until the marker is abandoned.
        if (isOurs || HELD_REMOVAL.test(found.marker) || found.ageMs > ABANDONED_MARKER_MS)
          await completeRemoval(key, found.marker)
        return isOurs
      }
      const kind = removal !== undefined ? RETIRED : copyName !== null ? UNHELD : ''
      const text = `${kind}${copyName === null ? '' : `${copyName} `}${token}`
      const outcome = await mark(key, found.etag, { text, removal })
      if (outcome === 'full') {
        if (copyName !== null) await bucket.remove(heldFolder + copyName)
        await bucket.remove(key)
        return true
      }
      if (outcome.isDone) {
        await completeRemoval(key, text)
        return true
      }
      // The next attempt finds out what changed the object.
    }
    throw contended('removed')
  }

  /** Deletes what remains of a removed image. A marker that stays behind is harmless, but a copy is not. */
  async function completeRemoval(key: string, marker: string): Promise<void> {
    const copyName = HELD_REMOVAL.exec(marker)?.[1]
    if (copyName !== undefined) await bucket.remove(heldFolder + copyName)
    if (!isRetired({ marker })) await bucket.remove(key).catch(() => {})
  }

  /** The ETag of a held image's marker, and the image's copy. */
  async function findHeld(id: string): Promise<{ etag: string; copy: ObjectRef } | null> {
    const found = await find(id)
    const name = found && heldCopyOf(found)
    return found && name ? { etag: found.etag, copy: { id, key: heldFolder + name } } : null
  }

  async function hold(id: string): Promise<boolean> {
    if (!ID_PATTERN.test(id)) return false
    const key = keyOf(id)
    const name = `${id}.${crypto.randomUUID()}`
    const copyKey = heldFolder + name
    // Marker length, but random, so that its ETag is unique.
    const body = crypto.getRandomValues(new Uint8Array(MARKER.length))
    // Before success is reported: another process may have removed the copy as abandoned.
    const isCopied = async () => (await bucket.head(copyKey)) !== null
    const startedAt = performance.now()
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const found = await bucket.head(key)
      if (found !== null && heldCopyOf(found) === name) return isCopied()
      if (found === null || found.marker !== null) {
        if (attempt > 0) await bucket.remove(copyKey)
        return false
      }
      if (!(await bucket.copy(key, copyKey))) continue
      // Amazon begins its answer to a copy before the end, so a copy may have failed in spite of it. Or it is that of another
      // hold's marker, if the image was held and released meanwhile: a released image has the same ETag as before its hold.
      if ((await bucket.head(copyKey))?.marker !== null) continue
      // The copy may soon be removed as abandoned.
      if (performance.now() - startedAt > ABANDONED_COPY_MS / 2) break
      const { isDone } = await bucket.mark(key, found.etag, `held ${name}`, body).catch(async (error) => {
        if (error instanceof StoreFull) await bucket.remove(copyKey).catch(() => {})
        throw error
      })
      if (isDone) return isCopied()
    }
    throw contended('held')
  }

  async function release(id: string): Promise<boolean> {
    const held = await findHeld(id)
    if (held === null) return false
    const key = keyOf(id)
    const token = crypto.randomUUID()
    const outcome = await bucket.putBack(held.copy, { key, etag: held.etag, release: token })
    // Another process has released or removed the image.
    if (outcome === null) return false
    // An earlier attempt may have succeeded although its response was lost.
    const isOurs = outcome.isDone || (outcome.isRetried && (await bucket.head(key))?.release === token)
    if (isOurs) await bucket.remove(held.copy.key)
    return isOurs
  }

  return {
    draft: async (body, limitBytes) => draftOf(await receive(body, limitBytes), { commit, replace }),

    async head(id) {
      if (!ID_PATTERN.test(id)) return null
      const { key, deadline } = viewOf(id)
      return recordOf(await bucket.head(key, { deadline }), id)
    },

    // A bucket acknowledges a put only once it is durable, so every visible object is.
    async headDurable(id) {
      const found = await find(id)
      return found !== null && isRetired(found) ? 'retired' : recordOf(found, id)
    },

    open: async (id, selection) => (ID_PATTERN.test(id) ? bucket.open(viewOf(id), selection) : null),

    /** Reading the whole image verifies its digest. */
    async verify(id) {
      if (!ID_PATTERN.test(id)) return null
      const ref = { id, key: keyOf(id) }
      const image = await bucket.open(ref)
      if (image?.body instanceof ReadableStream) for await (const _ of image.body);
      if (image?.record.preview !== undefined) await bucket.open(ref, 'preview')
      return image?.record ?? null
    },

    remove: (id, removal) => removeIf('visible', id, removal),

    async *list(after = '') {
      let last = after
      for await (const listed of bucket.list(prefix, listingStart(after))) {
        const id = listed.key.slice(prefix.length)
        if (!ID_PATTERN.test(id) || id <= after) continue
        if (id <= last) throw new Error('the object store does not list keys in order, which Pinhole needs')
        last = id
        if (!(await listed.isMarker())) yield id
      }
    },

    hold,
    release,

    async headHeld(id) {
      const held = await findHeld(id)
      return held && recordOf(await bucket.head(held.copy.key), id)
    },

    async openHeld(id, selection) {
      const held = await findHeld(id)
      return held && bucket.open(held.copy, selection)
    },

    removeHeld: (id, removal) => removeIf('held', id, removal),

    async *listHeld(after = '') {
      let now: number | undefined
      for await (const { key, modifiedAt } of bucket.list(heldFolder, listingStart(after))) {
        const name = key.slice(heldFolder.length)
        const id = name.slice(0, name.indexOf('.'))
        if (id <= after || !ID_PATTERN.test(id)) continue
        if ((await findHeld(id))?.copy.key === key) yield id
        else {
          // Uses the bucket's clock: to a machine whose clock is ahead, a copy whose marker is not written yet would look
          // abandoned.
          now ??= await bucket.time(key)
          if (now !== undefined && now - modifiedAt > ABANDONED_COPY_MS) await bucket.remove(key)
        }
      }
    },

    check: () => bucket.check(),
    close: () => bucket.close(),
  }
}

/** `null` for a marker too. Throws `DamagedObject`. */
export function recordOf(
  found: Pick<ObjectHead, 'marker' | 'record'> | null,
  id: string,
): ImageRecord | null {
  return found === null || found.marker !== null ? null : found.record(id)
}

function contended(action: string): StoreUnavailable {
  const cause = new Error(`the image could not be ${action}: it kept changing concurrently`)
  return new StoreUnavailable({ cause })
}
