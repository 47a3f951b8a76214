/**
 * Whole images in memory, under a byte budget. Bytes that an answer is still sending count until it is done, and those
 * that slow readers hold are at most half of the budget: the rest goes on serving everybody else.
 *
 * Evicted first is what came first and was not asked for since the hand last passed it (the clock algorithm): a hit costs a
 * mark, not a new position in a list.
 */
import { PIECE_BYTES } from '../../formats/image.ts'
import type { StoredImage } from '../object-store.ts'

/** What an answer may send at once. */
export type ImageInMemory = StoredImage & { body: Uint8Array }

export interface HotImage {
  /** As the store hands it out to whoever need not hold it. */
  readonly stored: ImageInMemory
  readonly path: string
  /** Which file it is from. `null`: its name never comes to another one. */
  readonly file: string | null
  /** When that was last checked, by the clock of `performance`. */
  lookedAt: number
  /** The turn of the event loop in which its file was last seen, as libuv counts them. */
  lookedIn: number
  /** What `reserve` set aside for it. */
  readonly reservedBytes: number
  /** Asked for since the last look at it. */
  isUsed: boolean
  /** Answers that are sending it. */
  pins: number
  /** Out of the set: its bytes are given back with the last pin. */
  evicted: boolean
}

export interface HotSet {
  get(id: string): HotImage | undefined
  /** Sets bytes aside for an image that is about to be read. `false`: no room, read it as a stream. */
  reserve(bytes: number): boolean
  /** Gives back what `reserve` set aside and was not used. */
  unreserve(bytes: number): void
  /** Takes an image in, on room that was reserved for it. */
  add(image: Pick<HotImage, 'stored' | 'path' | 'file' | 'reservedBytes'>): HotImage
  evict(id: string): void
  /** For an answer, which calls `release`. `null`: slow readers hold all that they may. */
  lend(image: HotImage): ImageInMemory | null
}

/** Beside its bytes an entry costs about this much. */
const ENTRY_BYTES = 1024

export function createHotSet(budgetBytes: number): HotSet {
  // A Map iterates in order of insertion.
  const images = new Map<string, HotImage>()
  let used = 0
  let pinned = 0

  function drop(image: HotImage): void {
    images.delete(image.stored.record.id)
    image.evicted = true
    if (image.pins === 0) used -= image.reservedBytes + ENTRY_BYTES
  }

  /** Whether an answer may begin to hold so many bytes. */
  function mayPin(bytes: number): boolean {
    return bytes <= PIECE_BYTES || pinned + bytes <= budgetBytes / 2
  }

  function pin(image: HotImage): () => void {
    if (image.pins++ === 0) pinned += image.reservedBytes
    let isPinned = true
    return () => {
      if (!isPinned) return
      isPinned = false
      if (--image.pins > 0) return
      pinned -= image.reservedBytes
      if (image.evicted) used -= image.reservedBytes + ENTRY_BYTES
    }
  }

  return {
    get(id) {
      const image = images.get(id)
      if (image !== undefined) image.isUsed = true
      return image
    },
    reserve(bytes) {
      const wanted = bytes + ENTRY_BYTES
      // One image must not push out all others.
      if (wanted > budgetBytes / 4 || !mayPin(bytes)) return false
      // What goes to the end comes by again, without its mark.
      for (const [id, image] of images) {
        if (used + wanted <= budgetBytes) break
        if (image.pins > 0) continue
        if (image.isUsed) {
          image.isUsed = false
          images.delete(id)
          images.set(id, image)
        } else drop(image)
      }
      if (used + wanted > budgetBytes) return false
      used += wanted
      return true
    },
    unreserve(bytes) {
      used -= bytes + ENTRY_BYTES
    },
    add(image) {
      const { id } = image.stored.record
      const known = images.get(id)
      if (known !== undefined) drop(known)
      const hot: HotImage = {
        ...image,
        lookedAt: performance.now(),
        lookedIn: -1,
        isUsed: false,
        pins: 0,
        evicted: false,
      }
      images.set(id, hot)
      return hot
    },
    evict(id) {
      const image = images.get(id)
      if (image !== undefined) drop(image)
    },
    lend(image) {
      const { stored, reservedBytes, pins } = image
      // Not pinned: of a stream, too, a connection may hold a piece.
      if (reservedBytes <= PIECE_BYTES) return stored
      if (pins === 0 && !mayPin(reservedBytes)) return null
      return { ...stored, release: pin(image) }
    },
  }
}
