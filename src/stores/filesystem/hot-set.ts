/**
 * Whole images in memory, under a byte budget. Bytes that an answer is still sending count until it is done, and those
 * that slow readers hold are at most half of the budget: the rest goes on serving everybody else.
 *
 * Evicted first is what came first and was not asked for since the hand last passed it (the clock algorithm): a hit costs a
 * mark, not a new position in a list. Node only.
 */
import { type Stats, statSync } from 'node:fs'
import { oncePerTick } from '../../async.ts'
import { PIECE_BYTES } from '../../formats/image.ts'
import type { ImageRecord, StoredImage } from '../object-store.ts'

/** What an answer may send at once. */
export type ImageInMemory = StoredImage & { body: Uint8Array }

export type HotSet = ReturnType<typeof createHotSet>

export interface Reservation {
  /**
   * Takes the image in, and acquires it. `identity`: of the file at `path` that it was read from. `reuse`: called once when
   * nobody reads the memory of its body any more.
   */
  add(
    image: { record: ImageRecord; body: Uint8Array },
    path: string,
    identity: string,
    reuse?: () => void,
  ): ImageInMemory
  /** Gives the bytes back. Harmless after `add`. */
  cancel(): void
}

interface HotImage {
  /** As it is handed out to whoever need not hold it. */
  readonly stored: ImageInMemory
  /**
   * Existence check: whether the file that it was read from still has its name, so that a removal by any process is seen at
   * once. All requests of one iteration of the event loop were sent before it began, and so before the check.
   */
  readonly isInPlace: () => boolean
  readonly reservedBytes: number
  readonly reuse: (() => void) | undefined
  /** Asked for since the hand passed it. */
  isUsed: boolean
  /** Answers that are sending it. */
  pins: number
  /** Out of the set: its bytes are given back with the last pin. */
  isEvicted: boolean
}

/** Beside its bytes an entry costs about this much. */
const ENTRY_BYTES = 1024

/**
 * With this view an image is taken in. Most are viewed less often, would push out others, and memory for one costs several
 * times what it costs to send its file (docs/decisions/009).
 */
const VIEWS_TO_ADMIT = 4

/** Images whose views are counted: so many at least, and at most twice as many. */
const COUNTED = 4096

export function createHotSet(budgetBytes: number) {
  // A Map iterates in order of insertion.
  const images = new Map<string, HotImage>()
  let used = 0
  let pinned = 0

  function drop(image: HotImage): void {
    images.delete(image.stored.record.id)
    image.isEvicted = true
    if (image.pins === 0) giveBack(image)
  }

  function giveBack({ reservedBytes, reuse }: HotImage): void {
    used -= reservedBytes + ENTRY_BYTES
    reuse?.()
  }

  /** Whether an answer may begin to hold so many bytes. */
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
      if (image.isEvicted) giveBack(image)
    }
  }

  function acquire(image: HotImage): ImageInMemory | null {
    const { stored, reservedBytes, reuse, pins } = image
    // Not pinned: of a stream, too, a connection may hold a piece.
    if (reservedBytes <= PIECE_BYTES && reuse === undefined) return stored
    if (pins === 0 && !mayPin(reservedBytes)) return null
    return { ...stored, release: pin(image) }
  }

  /** Evicts until there is room. `false` if there can't be. */
  function makeRoom(bytes: number): boolean {
    // What goes to the end comes by again, without its mark.
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
     * For an answer, which calls `release`. `null` if it is not here, if its file has lost its name, and if slow readers
     * hold all that they may.
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
    /** Sets bytes aside for an image that is about to be read. `null`: no room, read it as a stream. */
    reserve(bytes: number): Reservation | null {
      const wanted = bytes + ENTRY_BYTES
      // One image must not push out all others.
      if (wanted > budgetBytes / 4 || (bytes > PIECE_BYTES && !mayPin(bytes))) return null
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

/** Forgets what was viewed longest ago, by halves. */
function createViewCounter() {
  let recent = new Map<string, number>()
  let earlier = recent
  return {
    /** Whether it was viewed from its file lately. */
    wasViewed: (id: string) => recent.has(id) || earlier.has(id),
    /** Counts a view from the file. `true`: with this one the image is to be taken in. */
    countView(id: string): boolean {
      const views = 1 + (recent.get(id) ?? earlier.get(id) ?? 0)
      if (views >= VIEWS_TO_ADMIT) {
        // If it is pushed out it has to be viewed as often again.
        recent.delete(id)
        earlier.delete(id)
        return true
      }
      recent.set(id, views)
      if (recent.size === COUNTED) {
        earlier = recent
        recent = new Map()
      }
      return false
    },
  }
}

function identityAt(path: string): string | null {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats === undefined ? null : identityOf(stats)
}

/** Tells a file from any that has its name later: an inode may be used again, but not with the time of the last write. */
export function identityOf({ ino, mtimeMs }: Pick<Stats, 'ino' | 'mtimeMs'>): string {
  return `${ino} ${mtimeMs}`
}
