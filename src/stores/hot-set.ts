/**
 * Whole images in memory, under a byte budget, least recently used out first. Bytes that an answer is still sending
 * count until it is done, so that slow readers can't hold more than the budget.
 */
import type { ImageRecord } from './object-store.ts'

export interface HotImage {
  readonly record: ImageRecord
  readonly bytes: Uint8Array
  readonly path: string
  /** What `reserve` set aside for it. */
  readonly reservedBytes: number
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
  add(image: Omit<HotImage, 'pins' | 'evicted'>): HotImage
  evict(id: string): void
  pin(image: HotImage): () => void
}

/** Beside its bytes an entry costs about this much. */
const ENTRY_BYTES = 1024

export function createHotSet(budgetBytes: number): HotSet {
  // A Map iterates in order of insertion: a hit moves its entry to the end.
  const images = new Map<string, HotImage>()
  let used = 0

  function drop(image: HotImage): void {
    images.delete(image.record.id)
    image.evicted = true
    if (image.pins === 0) used -= image.reservedBytes + ENTRY_BYTES
  }

  return {
    get(id) {
      const image = images.get(id)
      if (image !== undefined) {
        images.delete(id)
        images.set(id, image)
      }
      return image
    },
    reserve(bytes) {
      const wanted = bytes + ENTRY_BYTES
      // One image must not push out all others.
      if (wanted > budgetBytes / 4) return false
      for (const image of images.values()) {
        if (used + wanted <= budgetBytes) break
        if (image.pins === 0) drop(image)
      }
      if (used + wanted > budgetBytes) return false
      used += wanted
      return true
    },
    unreserve(bytes) {
      used -= bytes + ENTRY_BYTES
    },
    add(image) {
      const known = images.get(image.record.id)
      if (known !== undefined) drop(known)
      const hot: HotImage = { ...image, pins: 0, evicted: false }
      images.set(image.record.id, hot)
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
