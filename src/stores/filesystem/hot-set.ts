/**
 * Whole images in memory, under a byte budget. Bytes that an answer is still sending count until it is done, so that
 * slow readers can't hold more than the budget.
 *
 * Out first is what came first and was not asked for since it was last looked at (the clock algorithm): a hit costs a
 * mark, not a new place in a list.
 */
import type { StoredImage } from '../object-store.ts'

export interface HotImage {
  /** As the store hands it out to whoever need not hold it. */
  readonly stored: StoredImage & { body: Uint8Array }
  readonly path: string
  /** The epoch of removals in which its file was last known to be there. */
  seen: number
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
  add(image: Pick<HotImage, 'stored' | 'path' | 'seen' | 'reservedBytes'>): HotImage
  evict(id: string): void
  pin(image: HotImage): () => void
}

/** Beside its bytes an entry costs about this much. */
const ENTRY_BYTES = 1024

export function createHotSet(budgetBytes: number): HotSet {
  // A Map iterates in order of insertion.
  const images = new Map<string, HotImage>()
  let used = 0

  function drop(image: HotImage): void {
    images.delete(image.stored.record.id)
    image.evicted = true
    if (image.pins === 0) used -= image.reservedBytes + ENTRY_BYTES
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
      if (wanted > budgetBytes / 4) return false
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
      const hot: HotImage = { ...image, isUsed: false, pins: 0, evicted: false }
      images.set(id, hot)
      return hot
    },
    evict(id) {
      const image = images.get(id)
      if (image !== undefined) drop(image)
    },
    pin(image) {
      image.pins++
      let pinned = true
      return () => {
        if (!pinned) return
        pinned = false
        image.pins--
        if (image.evicted && image.pins === 0) used -= image.reservedBytes + ENTRY_BYTES
      }
    },
  }
}
