/**
 * The latest uploads, in the memory that they came in: the first view of an image needs no disk and no copy. What was
 * viewed moves to the hot set, a copy of its own length; what nobody views gives its memory to the uploads that follow.
 */
import type { ImageRecord } from '../object-store.ts'
import type { HotImage, HotSet, ImageInMemory } from './hot-set.ts'

export interface FreshImages {
  /** `heldBytes`: of the memory that `giveBack` returns to its owner. */
  add(image: FreshImage): void
  /** Memory for the bytes of an image that is on its way to a file. `null`: there is none for so many. */
  room(bytes: number): Room | null
  get(id: string): FreshImage | undefined
  /** For its first view. It moves to the hot set once it was sent. `null`: it is not to be sent from here. */
  lend(image: FreshImage): ImageInMemory | null
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

export interface Room {
  readonly bytes: Buffer<ArrayBuffer>
  /** It counts no more. To be called once, whatever became of the image. */
  release(): void
}

/** More at once are copied: slow readers do not hold the memory of many uploads. */
const MOST_LENT = 8

/** One large upload may push out a quarter of those before it, and no more. */
const LARGEST_SHARE = 1 / 4

export function createFreshImages(hotSet: HotSet, budgetBytes: number): FreshImages {
  const images = new Map<string, FreshImage>()
  const lent = new Set<FreshImage>()
  let held = 0

  function evict(id: string): void {
    const image = images.get(id)
    if (image === undefined) return
    images.delete(id)
    held -= image.heldBytes
    if (!lent.has(image)) image.giveBack()
  }

  function shrink(): void {
    for (const id of images.keys()) {
      if (held <= budgetBytes) return
      evict(id)
    }
  }

  function promote(id: string): HotImage | undefined {
    const image = images.get(id)
    if (image === undefined) return undefined
    const { record, path, file, bytes } = image
    const isReserved = hotSet.reserve(bytes.length)
    const body = isReserved ? ownMemory(bytes) : null
    evict(id)
    return body === null
      ? undefined
      : hotSet.add({ stored: { record, body }, path, file, reservedBytes: body.length })
  }

  function takeBack(image: FreshImage): void {
    if (!lent.delete(image)) return
    if (images.get(image.record.id) === image) promote(image.record.id)
    else image.giveBack()
  }

  return {
    room(bytes) {
      if (bytes > budgetBytes * LARGEST_SHARE) return null
      held += bytes
      shrink()
      const release = () => {
        held -= bytes
      }
      if (held <= budgetBytes) return { bytes: Buffer.allocUnsafeSlow(bytes), release }
      release()
      return null
    },
    add(image) {
      if (image.heldBytes > budgetBytes) return image.giveBack()
      evict(image.record.id)
      images.set(image.record.id, image)
      held += image.heldBytes
      shrink()
    },
    get: (id) => images.get(id),
    lend(image) {
      if (ownsMemory(image.bytes) || lent.has(image) || lent.size === MOST_LENT) return null
      lent.add(image)
      const { record, bytes } = image
      return { record, body: bytes, release: () => takeBack(image) }
    },
    promote,
    evict,
  }
}

function ownsMemory(bytes: Uint8Array): boolean {
  return bytes.byteLength === bytes.buffer.byteLength
}

/** The bytes in memory that holds nothing else. */
function ownMemory(bytes: Uint8Array): Uint8Array {
  if (ownsMemory(bytes)) return bytes
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  copy.set(bytes)
  return copy
}
