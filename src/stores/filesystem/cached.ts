/** Small images that were read lately, again from the kernel's memory: no other thread, and no promise. Node only. */
import { closeSync, fstatSync } from 'node:fs'
import { matchesDigests } from './block-digests.ts'
import { identityOf } from './file.ts'
import type { HotSet, ImageInMemory } from './hot-set.ts'
import { isAsKnown, type KnownFile, type KnownFiles } from './known-files.ts'
import { cachedReads, openKnown } from './page-cache.ts'
import type { ReadBlocks } from './read-blocks.ts'
import { SLOT_BYTES, takeSlot } from './slots.ts'

/**
 * All of an image, checked as by `open`. `null` if there is anything to wait for, or anything wrong: `open` knows what.
 * Call `release` as for `open`.
 */
export type ReadCachedImage = (path: string, id: string) => ImageInMemory | null

/** `hotSet`: takes in what is read. */
export function readCachedImages(
  known: KnownFiles,
  hotSet: HotSet | null,
  blocks: ReadBlocks,
): ReadCachedImage {
  function fill(descriptor: number, into: Buffer, file: KnownFile): Uint8Array | null {
    const length = cachedReads()!(descriptor, into, 0)
    if (length !== file.size) return null
    const { record, digests } = file.trailer
    const whole = into.subarray(0, length)
    const body = whole.subarray(0, record.size)
    return digests !== null && isAsKnown(whole, file) && matchesDigests(body, digests, 0) ? body : null
  }

  function lend(descriptor: number, file: KnownFile): ImageInMemory | null {
    // Longer than the file: one that grew is another one.
    const { bytes, give: release } = takeSlot() ?? blocks.take(SLOT_BYTES)
    const body = fill(descriptor, bytes, file)
    if (body !== null) return { record: file.trailer.record, body, release }
    release()
    return null
  }

  function keep(descriptor: number, path: string, file: KnownFile, hotSet: HotSet): ImageInMemory | null {
    let isKept = false
    try {
      const stats = fstatSync(descriptor)
      const body = stats.size === file.size ? fill(descriptor, Buffer.allocUnsafeSlow(file.size), file) : null
      if (body === null) return null
      const stored = { record: file.trailer.record, body }
      const image = hotSet.add({ stored, path, file: identityOf(stats), reservedBytes: file.size })
      isKept = true
      return hotSet.lend(image) ?? stored
    } finally {
      if (!isKept) hotSet.unreserve(file.size)
    }
  }

  return (path, id) => {
    const file = known.get(id)
    if (file === undefined || file.size >= SLOT_BYTES || cachedReads() === null) return null
    const descriptor = openKnown(path)
    if (descriptor < 0) return null
    try {
      return hotSet?.reserve(file.size) ? keep(descriptor, path, file, hotSet) : lend(descriptor, file)
    } finally {
      closeSync(descriptor)
    }
  }
}
