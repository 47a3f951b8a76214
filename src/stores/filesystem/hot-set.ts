/**
 * In-memory cache of whole images with a byte budget. Bytes that a response is still sending stay counted until it is done.
 * Responses may pin at most half of the budget, so that slow readers can't starve everybody else.
 *
 * Eviction uses the clock algorithm: the oldest image that was not requested since the hand last passed it goes first. A
 * hit only sets a flag instead of moving a list entry. Node only.
 */
import { type Stats, statSync } from 'node:fs'
import { oncePerTick } from '../../async.ts'
import { CHUNK_BYTES } from '../../formats/image.ts'
import type { ImageRecord, StoredImage } from '../object-store.ts'

/** An image that a response can send in one go. */
export type ImageInMemory = StoredImage & { body: Uint8Array }

export type HotSet = ReturnType<typeof createHotSet>

export interface Reservation {
  /**
   * Adds the image and acquires it. `identity`: that of the file at `path` which the image was read from. `reuse`: called once
   * the body's memory is no longer in use.
   */
  add(
    image: { record: ImageRecord; body: Uint8Array },
    path: string,
    identity: string,
    reuse?: () => void,
  ): ImageInMemory
  /** Frees the reserved bytes. No effect after `add`. */
  cancel(): void
}

interface HotImage {
  /** The unpinned form, without `release`. */
  readonly stored: ImageInMemory
  /**
   * Whether the file that the image was read from still has its name, so that a removal by any process takes effect
   * immediately. Checked once per event-loop iteration: its requests were all sent before the iteration, hence before the check.
   */
  readonly isInPlace: () => boolean
  readonly reservedBytes: number
  readonly reuse: (() => void) | undefined
  /** Requested since the hand last passed it. */
  isUsed: boolean
  /** Number of responses that are sending it. */
  pins: number
  /** No longer in the set. Its bytes are freed with the last pin. */
  isEvicted: boolean
}

/** Approximate overhead of an entry, in addition to its bytes. */
const ENTRY_BYTES = 1024

/**
 * The view with which an image is admitted. Most images are viewed less often and would only push out others, and caching
 * one costs several times as much as sending its file (docs/decisions/009).
 */
const VIEWS_TO_ADMIT = 4

/** Number of images whose views are counted: at least this many, at most twice as many. */
const COUNTED = 4096

export function createHotSet(budgetBytes: number) {
  // A Map iterates in order of insertion.
  const images = new Map<string, HotImage>()
  let used = 0
  let pinned = 0

  function drop(image: HotImage): void {
    images.delete(image.stored.record.id)
    image.isEvicted = true
    if (image.pins === 0) free(image)
  }

  function free({ reservedBytes, reuse }: HotImage): void {
    used -= reservedBytes + ENTRY_BYTES
    reuse?.()
  }

  /** Whether pinning this many more bytes stays within the limit. */
  function mayPin(bytes: number): boolean {
    return pinned + bytes <= budgetBytes / 2
  }

  function pin(image: HotImage): () => void {
    if (image.pins++ === 0) pinned += image.reservedBytes
    let isPinned = true
    return () => {
      if (!isPinned) return
      isPinned = false
      if (--image.pins > 0) return
      pinned -= image.reservedBytes
      if (image.isEvicted) free(image)
    }
  }

  function acquire(image: HotImage): ImageInMemory | null {
    const { stored, reservedBytes, reuse, pins } = image
    // Not pinned: this is no more memory than the chunk of a stream that a connection may hold anyway.
    if (reservedBytes <= CHUNK_BYTES && reuse === undefined) return stored
    if (pins === 0 && !mayPin(reservedBytes)) return null
    return { ...stored, release: pin(image) }
  }

  /** Evicts until `bytes` fit. `false` if pinned or reserved bytes prevent that. */
  function makeRoom(bytes: number): boolean {
    // An image moved to the end is visited again by this loop, with its flag cleared.
    for (const [id, image] of images) {
      if (used + bytes <= budgetBytes) break
      if (image.pins > 0) continue
      if (image.isUsed) {
        image.isUsed = false
        images.delete(id)
        images.set(id, image)
      } else drop(image)
    }
    return used + bytes <= budgetBytes
  }

  return {
    /**
     * An image for a response, which calls `release`. `null` if it is not cached, if its file was moved or removed, or if
     * slow readers have used up the pin limit.
     */
    acquire(id: string): ImageInMemory | null {
      const image = images.get(id)
      if (image === undefined) return null
      if (!image.isInPlace()) {
        drop(image)
        return null
      }
      image.isUsed = true
      return acquire(image)
    },
    ...createViewCounter(),
    /** Reserves bytes for an image that is about to be read. `null` if there is no room: stream the image instead. */
    reserve(bytes: number): Reservation | null {
      const wanted = bytes + ENTRY_BYTES
      // A single image must not push out all others.
      if (wanted > budgetBytes / 4 || (bytes > CHUNK_BYTES && !mayPin(bytes))) return null
      if (!makeRoom(wanted)) return null
      used += wanted
      let isOpen = true
      return {
        add(stored, path, identity, reuse) {
          isOpen = false
          const earlier = images.get(stored.record.id)
          if (earlier !== undefined) drop(earlier)
          const isInPlace = oncePerTick(() => identityAt(path) === identity)
          const state = { isUsed: false, pins: 0, isEvicted: false }
          const image = { stored, isInPlace, reservedBytes: bytes, reuse, ...state }
          images.set(stored.record.id, image)
          return acquire(image) ?? stored
        },
        cancel() {
          if (isOpen) used -= wanted
          isOpen = false
        },
      }
    },
    evict(id: string): void {
      const image = images.get(id)
      if (image !== undefined) drop(image)
    },
  }
}

/** Counts views in two generations: when the recent one is full, it replaces the earlier one. */
function createViewCounter() {
  let recent = new Map<string, number>()
  let earlier = recent
  return {
    /** Whether the image was recently read from its file. */
    wasViewed: (id: string) => recent.has(id) || earlier.has(id),
    /** Counts a view served from the file. `true` if the image should now be admitted. */
    countView(id: string): boolean {
      const views = 1 + (recent.get(id) ?? earlier.get(id) ?? 0)
      const isAdmitted = views >= VIEWS_TO_ADMIT
      // Reset, so that an evicted image has to earn admission again.
      recent.set(id, isAdmitted ? 0 : views)
      if (recent.size === COUNTED) {
        earlier = recent
        recent = new Map()
      }
      return isAdmitted
    },
  }
}

function identityAt(path: string): string | null {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats === undefined ? null : identityOf(stats)
}

/** Distinguishes a file from any later file of the same name: inode numbers are reused, but not with the same mtime. */
export function identityOf({ ino, mtimeMs }: Pick<Stats, 'ino' | 'mtimeMs'>): string {
  return `${ino} ${mtimeMs}`
}
