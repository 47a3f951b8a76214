/**
 * The latest uploads, in the memory that they came in: the first view of an image needs no disk. What is viewed moves to
 * the hot set, a copy of its own length; what nobody views gives its memory to the uploads that follow.
 */
import type { ImageRecord } from '../object-store.ts'
import type { HotImage, HotSet } from './hot-set.ts'

export interface FreshImages {
  /** `heldBytes`: of the memory that `giveBack` returns to its owner. */
  add(image: FreshImage): void
  /** Into the hot set, if it is here and there is room. */
  promote(id: string): HotImage | undefined
  evict(id: string): void
}

export interface FreshImage {
  record: ImageRecord
  path: string
  /** Its identity, if its name may come to another file. */
  file: string | null
  bytes: Uint8Array
  heldBytes: number
  giveBack(): void
}

export function createFreshImages(hotSet: HotSet, budgetBytes: number): FreshImages {
  const images = new Map<string, FreshImage>()
  let held = 0

  function evict(id: string): void {
    const image = images.get(id)
    if (image === undefined) return
    images.delete(id)
    held -= image.heldBytes
    image.giveBack()
  }

  return {
    add(image) {
      if (image.heldBytes > budgetBytes) return image.giveBack()
      evict(image.record.id)
      images.set(image.record.id, image)
      held += image.heldBytes
      for (const id of images.keys()) {
        if (held <= budgetBytes) return
        evict(id)
      }
    },
    promote(id) {
      const image = images.get(id)
      if (image === undefined) return undefined
      const { record, path, file, bytes } = image
      const isReserved = hotSet.reserve(bytes.length)
      const body = isReserved ? Buffer.allocUnsafeSlow(bytes.length) : null
      body?.set(bytes)
      evict(id)
      return body === null
        ? undefined
        : hotSet.add({ stored: { record, body }, path, file, reservedBytes: body.length })
    },
    evict,
  }
}
