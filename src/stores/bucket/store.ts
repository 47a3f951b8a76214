/**
 * Images in a bucket: one object an image, `<prefix><id>`, its record in the object's user metadata. `markers.ts` tells where
 * an image is. S3 and R2 differ in how the calls are made: each has an `ImageBucket`.
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
  FORSAKEN_COPY_MS,
  FORSAKEN_MARKER_MS,
  GOING,
  heldCopyOf,
  isRetired,
  listingStart,
  MARKER,
  MAX_ROUNDS,
  RETIRED,
  RETIRED_MARKER,
  UNHELD,
} from './markers.ts'

/** Metadata of the object under a key. */
export interface Found {
  etag: string
  /** The text of the marker. `null` for an image. */
  marker: string | null
  /** Which release brought it back. `null` if none did. */
  release: string | null
  /** Since it was put. Unit: milliseconds. */
  ageMs: number
  /** Throws `DamagedObject` if the object carries no sound record of `id`. */
  record(id: string): ImageRecord
}

export interface Listed {
  key: string
  /** Epoch milliseconds, by the bucket's clock. */
  modifiedAt: number
  isMarker(): boolean | Promise<boolean>
}

export interface Place {
  id: string
  key: string
  /** When an answer must be there, by the clock of `performance`; streams go on after that. By default no limit. */
  answerBy?: number | undefined
}

/** `isRepeated`: an attempt before may have been carried out, and its answer lost. */
export interface PutOutcome {
  /** `false`: the condition was not met. */
  isDone: boolean
  isRepeated: boolean
}

/** The calls to a bucket. All throw `StoreUnavailable`; those that put, `StoreFull`. */
export interface ImageBucket {
  /** `isQuick`: asks once, and does not wait for long. */
  head(key: string, options?: { answerBy?: number | undefined; isQuick?: boolean }): Promise<Found | null>
  /** As `ObjectStore.open`. */
  open(place: Place, selection?: Selection): Promise<StoredImage | null>
  /** `onlyIf`: nothing is under the key, or what has this ETag. */
  put(key: string, image: NewImage, onlyIf?: 'absent' | { etag: string }): Promise<PutOutcome>
  /** Puts a marker in place of what has this ETag. */
  mark(key: string, etag: string, text: string, body: Uint8Array<ArrayBuffer>): Promise<PutOutcome>
  /** Copies an object as it is, damage and all. `false` if there is none. */
  copy(from: string, to: string): Promise<boolean>
  /** Puts the image of a copy in place of the marker that has this ETag. `null` if the copy is gone. */
  putBack(copy: Place, over: { key: string; etag: string; release: string }): Promise<PutOutcome | null>
  /** Harmless if nothing is there. */
  remove(key: string): Promise<void>
  /** The keys directly below `prefix` that sort after `prefix + start`, in ascending order of code units. */
  list(prefix: string, start: string): AsyncIterable<Listed>
  /** The bucket's clock, epoch milliseconds. `undefined` if nothing is under `key`, which may be asked for it. */
  time(key: string): Promise<number | undefined>
  check(): Promise<void>
  close(): Promise<void>
}

export interface BucketStoreOptions {
  prefix: string
  receive(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<DraftBytes>
  /** From a view's first request to its answer. By default no limit. Unit: milliseconds. */
  viewMs?: number
}

export function openBucketStore(bucket: ImageBucket, options: BucketStoreOptions): ObjectStore {
  const { prefix, receive, viewMs } = options
  /** Where copies of held images are. */
  const folder = `${prefix}held/`
  const keyOf = (id: string) => prefix + id

  /** The place of an image for a view, with the view's deadline. */
  function viewOf(id: string): Place {
    return { id, key: keyOf(id), answerBy: viewMs && performance.now() + viewMs }
  }

  async function find(id: string): Promise<Found | null> {
    return ID_PATTERN.test(id) ? bucket.head(keyOf(id)) : null
  }

  async function commit(image: NewImage): Promise<void> {
    const { record } = image
    const { isDone, isRepeated } = await bucket
      .put(keyOf(record.id), image, 'absent')
      .catch(async (error) => {
        // The last attempt may have been carried out, and only its answer lost. All attempts were waited for, and hosts cut
        // connections that are idle for 30 s, so this check is quick.
        const isStored =
          error instanceof StoreUnavailable && (await isOurs(record, { isQuick: true }).catch(() => false))
        if (isStored) return { isDone: true, isRepeated: true }
        throw error
      })
    if (isDone || (isRepeated && (await isOurs(record)))) return
    throw new IdTaken()
  }

  /** The hash of the deletion key tells our image from any other; the time tells it from a double sent at once. */
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

  /** Puts a sound image in place of a damaged one, on condition that this is still the one that was read. */
  async function replace(image: NewImage): Promise<'visible' | 'held' | null> {
    const key = keyOf(image.record.id)
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const found = await bucket.head(key)
      if (found === null) return null
      const copyName = heldCopyOf(found)
      if (copyName !== null) {
        await bucket.put(folder + copyName, image)
        const after = await bucket.head(key)
        if (after !== null && heldCopyOf(after) === copyName) return 'held'
        // It was released or removed meanwhile.
        await bucket.remove(folder + copyName)
        continue
      }
      if (found.marker !== null) return null
      const { isDone, isRepeated } = await bucket.put(key, image, found)
      if (isDone) return 'visible'
      // A first attempt may have been carried out, and its answer lost: then the next round puts the same once more.
      if (!isRepeated && (await bucket.head(key)) === null) return null
    }
    throw contended('replaced')
  }

  /** `full`: there is no room for a marker, but images must go. Two removers may then both be told that it was there. */
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

  /** Removes an image that is in this place. Exactly one of several removers is told `true`. */
  async function removeFrom(place: 'visible' | 'held', id: string, removal?: Removal): Promise<boolean> {
    if (!ID_PATTERN.test(id)) return false
    const key = keyOf(id)
    const mine = crypto.randomUUID()
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const found = await bucket.head(key)
      if (found === null) return false
      const copyName = heldCopyOf(found)
      const isThere = place === 'held' ? copyName !== null : found.marker === null
      if (!isThere) {
        if (found.marker === null || copyName !== null) return false
        const isOurs = found.marker.endsWith(mine)
        // Without a copy there is no hurry, and its remover may still be at work.
        if (isOurs || GOING.test(found.marker) || found.ageMs > FORSAKEN_MARKER_MS)
          await endRemoval(key, found.marker)
        return isOurs
      }
      const begin = removal !== undefined ? RETIRED : copyName !== null ? UNHELD : ''
      const text = `${begin}${copyName === null ? '' : `${copyName} `}${mine}`
      const outcome = await mark(key, found.etag, { text, removal })
      if (outcome === 'full') {
        if (copyName !== null) await bucket.remove(folder + copyName)
        await bucket.remove(key)
        return true
      }
      if (outcome.isDone) {
        await endRemoval(key, text)
        return true
      }
      // The next round finds out who changed the object.
    }
    throw contended('removed')
  }

  /** The image is gone by its marker, so one that stays is harmless; its copy is not. */
  async function endRemoval(key: string, marker: string): Promise<void> {
    const copyName = GOING.exec(marker)?.[1]
    if (copyName !== undefined) await bucket.remove(folder + copyName)
    if (!isRetired({ marker })) await bucket.remove(key).catch(() => {})
  }

  /** The marker of a held image, and where its copy is. */
  async function heldAt(id: string): Promise<{ etag: string; copy: Place } | null> {
    const found = await find(id)
    const name = found && heldCopyOf(found)
    return found && name ? { etag: found.etag, copy: { id, key: folder + name } } : null
  }

  async function hold(id: string): Promise<boolean> {
    if (!ID_PATTERN.test(id)) return false
    const key = keyOf(id)
    const name = `${id}.${crypto.randomUUID()}`
    const copyKey = folder + name
    // As long as a marker, and random, so that its ETag never repeats.
    const body = crypto.getRandomValues(new Uint8Array(MARKER.length))
    // Nothing is acknowledged that another process took for forsaken.
    const isCopied = async () => (await bucket.head(copyKey)) !== null
    const startedAt = performance.now()
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const found = await bucket.head(key)
      if (found !== null && heldCopyOf(found) === name) return isCopied()
      if (found === null || found.marker !== null) {
        if (round > 0) await bucket.remove(copyKey)
        return false
      }
      if (!(await bucket.copy(key, copyKey))) continue
      // It may be a copy of another hold's marker, and the image be back by now, with the ETag that it had.
      if ((await bucket.head(copyKey))?.marker !== null) continue
      // Its copy may be cleared away soon.
      if (performance.now() - startedAt > FORSAKEN_COPY_MS / 2) break
      const { isDone } = await bucket.mark(key, found.etag, `held ${name}`, body).catch(async (error) => {
        if (error instanceof StoreFull) await bucket.remove(copyKey).catch(() => {})
        throw error
      })
      if (isDone) return isCopied()
    }
    throw contended('held')
  }

  async function release(id: string): Promise<boolean> {
    const held = await heldAt(id)
    if (held === null) return false
    const key = keyOf(id)
    const mine = crypto.randomUUID()
    const outcome = await bucket.putBack(held.copy, { key, etag: held.etag, release: mine })
    // Another process released or removed it since.
    if (outcome === null) return false
    // A first attempt may have been carried out, and its answer lost.
    const isOurs = outcome.isDone || (outcome.isRepeated && (await bucket.head(key))?.release === mine)
    if (isOurs) await bucket.remove(held.copy.key)
    return isOurs
  }

  return {
    draft: async (body, limitBytes) => draftOf(await receive(body, limitBytes), { commit, replace }),

    async head(id) {
      if (!ID_PATTERN.test(id)) return null
      const { key, answerBy } = viewOf(id)
      return recordOf(await bucket.head(key, { answerBy }), id)
    },

    // A bucket acknowledges a put when it is durable, so every object found is.
    async headDurable(id) {
      const found = await find(id)
      return found !== null && isRetired(found) ? 'retired' : recordOf(found, id)
    },

    open: async (id, selection) => (ID_PATTERN.test(id) ? bucket.open(viewOf(id), selection) : null),

    /** A read of all of it checks its digest. */
    async verify(id) {
      if (!ID_PATTERN.test(id)) return null
      const place = { id, key: keyOf(id) }
      const image = await bucket.open(place)
      if (image?.body instanceof ReadableStream) for await (const _ of image.body);
      if (image?.record.preview !== undefined) await bucket.open(place, 'preview')
      return image?.record ?? null
    },

    remove: (id, removal) => removeFrom('visible', id, removal),

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
      const held = await heldAt(id)
      return held && recordOf(await bucket.head(held.copy.key), id)
    },

    async openHeld(id, selection) {
      const held = await heldAt(id)
      return held && bucket.open(held.copy, selection)
    },

    removeHeld: (id, removal) => removeFrom('held', id, removal),

    async *listHeld(after = '') {
      let now: number | undefined
      for await (const { key, modifiedAt } of bucket.list(folder, listingStart(after))) {
        const name = key.slice(folder.length)
        const id = name.slice(0, name.indexOf('.'))
        if (id <= after || !ID_PATTERN.test(id)) continue
        if ((await heldAt(id))?.copy.key === key) yield id
        else {
          // This machine's clock may be ahead, and would take for old a copy whose marker is on its way.
          now ??= await bucket.time(key)
          if (now !== undefined && now - modifiedAt > FORSAKEN_COPY_MS) await bucket.remove(key)
        }
      }
    },

    check: () => bucket.check(),
    close: () => bucket.close(),
  }
}

/** `null` also for a marker: its image is gone. Throws `DamagedObject`. */
export function recordOf(found: Pick<Found, 'marker' | 'record'> | null, id: string): ImageRecord | null {
  return found === null || found.marker !== null ? null : found.record(id)
}

function contended(done: string): StoreUnavailable {
  return new StoreUnavailable({ cause: new Error(`others kept changing the image that was to be ${done}`) })
}
