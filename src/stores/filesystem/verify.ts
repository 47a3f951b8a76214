/** Compares a whole image with its SHA-256, and gives one of the older layout the digests of its blocks. Node only. */
import { type FileHandle, open } from 'node:fs/promises'
import { DamagedObject, type ImageRecord } from '../object-store.ts'
import { createBlockDigester } from './block-digests.ts'
import { assertSha256 } from './check.ts'
import { isCode, storeFault } from './faults.ts'
import { CutShort, closeFile, type OpenFile, openFile } from './file.ts'
import { readTrailer } from './read.ts'
import { encodeTrailer } from './trailer.ts'

/** `null` if there is none. Throws `DamagedObject`. */
export async function verifyImage(path: string, id: string): Promise<ImageRecord | null> {
  let file: OpenFile | undefined
  try {
    file = await openFile(path)
    const trailer = await readTrailer(file, id)
    if (trailer === null) return null
    const { record } = trailer
    const digester = createBlockDigester()
    await assertSha256(file, record, { onPiece: digester.update })
    const digests = digester.digests()
    if (trailer.digests === null) await addDigests(path, file, encodeTrailer({ record, digests }))
    // The image is sound, so it is its digests that are not.
    else if (!digests.equals(trailer.digests)) throw new DamagedObject(id)
    return record
  } catch (error) {
    if (error instanceof CutShort) throw new DamagedObject(id, { cause: error })
    return isCode(error, 'ENOENT') ? null : storeFault(error)
  } finally {
    if (file !== undefined) closeFile(file)
  }
}

/**
 * Appended, so that nothing is overwritten and a removal meanwhile stays one: a new file under the old name would bring
 * the image back.
 */
async function addDigests(path: string, { size }: OpenFile, trailer: Buffer): Promise<void> {
  let handle: FileHandle | undefined
  try {
    handle = await open(path, 'r+')
    await handle.write(trailer, 0, trailer.length, size)
    await handle.sync()
  } finally {
    await handle?.close()
  }
}
