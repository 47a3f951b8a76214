/** Small files that were read lately, opened, read and closed in one trip to another thread. Node only. */
import { DamagedObject, type StoredImage } from '../object-store.ts'
import { matchesDigests } from './block-digests.ts'
import { isCode, storeFault } from './faults.ts'
import { identityIfSame, readAtOnce } from './file.ts'
import type { HotSet } from './hot-set.ts'
import { isAsKnown, type KnownFile, type KnownFiles } from './known-files.ts'

/** Of larger files the memory, new for each read, costs the collector more than a second trip does. Unit: bytes. */
const MOST_BYTES = 64 * 1024

export interface OneTrip {
  /**
   * `null`: there is no such file. `undefined`, at once or later: it is not known, or no longer what it was, and is to be
   * read in another way.
   */
  open(path: string, id: string): Promise<StoredImage | null | undefined> | undefined
}

/** `hotSet`: takes in what is read. */
export function readInOneTrip(known: KnownFiles, hotSet: HotSet | null): OneTrip {
  async function open(path: string, id: string, file: KnownFile): Promise<StoredImage | null | undefined> {
    let whole: Buffer
    try {
      whole = await readAtOnce(path)
    } catch (error) {
      return isCode(error, 'ENOENT') ? null : storeFault(error)
    }
    const { record, digests } = file.trailer
    if (digests === null || !isAsKnown(whole, file)) return undefined
    const body = whole.subarray(0, record.size)
    if (!matchesDigests(body, digests, 0)) throw new DamagedObject(id)
    const stored = { record, body }
    if (hotSet === null || !hotSet.reserve(whole.length)) return stored
    const identity = identityIfSame(path, whole.length, whole.subarray(file.offset))
    if (identity === null) {
      hotSet.unreserve(whole.length)
      return stored
    }
    return hotSet.lend(hotSet.add({ stored, path, file: identity, reservedBytes: whole.length })) ?? stored
  }

  return {
    open(path, id) {
      const file = known.get(id)
      return file !== undefined && file.size <= MOST_BYTES ? open(path, id, file) : undefined
    },
  }
}
