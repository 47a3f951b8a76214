/** Small files that were read lately, opened, read and closed in one trip to another thread. Node only. */
import { readFile } from 'node:fs'
import { DamagedObject, type StoredImage } from '../object-store.ts'
import { matchesDigests } from './block-digests.ts'
import { isCode, storeFault } from './faults.ts'
import { identityIfSame } from './file.ts'
import type { HotSet } from './hot-set.ts'
import { isAsKnown, type KnownFile, type KnownFiles } from './known-files.ts'

/** Of larger files the memory, new for each read, costs the collector more than a second trip does. Unit: bytes. */
const MOST_BYTES = 64 * 1024

export interface OneTrip {
  suits(file: KnownFile): boolean
  /** `null`: there is no such file. `otherwise`: reads it if it is no longer what it was. */
  open(
    path: string,
    id: string,
    file: KnownFile,
    otherwise: () => Promise<StoredImage | null>,
  ): Promise<StoredImage | null>
}

/** `hotSet`: takes in what is read. */
export function readInOneTrip(known: KnownFiles, hotSet: HotSet | null): OneTrip {
  function checked(whole: Buffer, path: string, { trailer, offset }: KnownFile): StoredImage {
    const { record, digests } = trailer
    const body = whole.subarray(0, record.size)
    if (digests === null || !matchesDigests(body, digests, 0)) throw new DamagedObject(record.id)
    const stored = { record, body }
    if (hotSet === null || !hotSet.reserve(whole.length)) return stored
    const identity = identityIfSame(path, whole.length, whole.subarray(offset))
    if (identity === null) {
      hotSet.unreserve(whole.length)
      return stored
    }
    return hotSet.lend(hotSet.add({ stored, path, file: identity, reservedBytes: whole.length })) ?? stored
  }

  return {
    suits: ({ size }) => size <= MOST_BYTES,
    // One promise: a chain of asynchronous functions costs a small image a twentieth of its answer.
    open: (path, id, file, otherwise) =>
      new Promise((resolve, reject) => {
        readFile(path, (error, whole) => {
          try {
            if (error === null) resolve(isAsKnown(whole, file) ? checked(whole, path, file) : otherwise())
            else if (isCode(error, 'ENOENT')) {
              known.forget(id)
              resolve(null)
            } else storeFault(error)
          } catch (error) {
            reject(error)
          }
        })
      }),
  }
}
