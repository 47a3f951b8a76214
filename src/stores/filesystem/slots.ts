/**
 * Memory for images that are read on the event loop and given back within the same turn, unless the client is slow: most of
 * the time it is one and the same slot, and its bytes stay near the processor. Node only.
 */
import { hashedInPlace } from './xxhash.ts'

/** A small image with its trailer. Unit: bytes. */
export const SLOT_BYTES = 272 * 1024

export interface Slot {
  readonly bytes: Buffer<ArrayBuffer>
  /** Once nobody reads them any more. A second time is harmless. A slot that is never given back is lost. */
  give(): void
}

const free = Array.from({ length: Math.floor(hashedInPlace.length / SLOT_BYTES) }, (_, index) =>
  hashedInPlace.subarray(index * SLOT_BYTES, (index + 1) * SLOT_BYTES),
)

/** `null`: slow clients hold all of them. */
export function takeSlot(): Slot | null {
  const bytes = free.pop()
  if (bytes === undefined) return null
  let isTaken = true
  return {
    bytes,
    give() {
      if (isTaken) free.push(bytes)
      isTaken = false
    },
  }
}
