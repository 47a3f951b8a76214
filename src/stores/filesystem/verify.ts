/**
 * Compares whole images with the SHA-256 of their records: one, which gains the digests of its blocks if it is of the older
 * layout, or a folder of them. Node only.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { PIECE_BYTES } from '../../formats/image.ts'
import { ID_PATTERN } from '../../protocol.ts'
import { isCode } from '../disk/faults.ts'
import { DamagedObject, type ImageRecord, storedSize } from '../object-store.ts'
import { compareDigests, hashImage, readTrailer, withFile } from './reader.ts'
import { decodeTrailer, encodeTrailer, tailLength } from './trailer.ts'

/** `null` if there is none. Throws `DamagedObject`, `StoreUnavailable`. */
export function verifyImage(path: string, id: string): Promise<ImageRecord | null> {
  return withFile(path, id, async (file) => {
    const trailer = await readTrailer(file, id)
    if (trailer === null) return null
    const { record } = trailer
    const digests = await hashImage(file, record)
    if (trailer.digests === null) await append(path, file.size, encodeTrailer({ record, digests }))
    // The image is sound, so it is its digests that are not.
    else if (!digests.equals(trailer.digests)) throw new DamagedObject(id)
    return record
  })
}

/** Nothing is overwritten, and a removal meanwhile stays one: a new file under the old name would bring the image back. */
async function append(path: string, size: number, trailer: Buffer): Promise<void> {
  await using handle = await open(path, 'r+')
  await handle.write(trailer, 0, trailer.length, size)
  await handle.sync()
}

export type Audited =
  | { kind: 'sound'; id: string; bytes: number; expiresAt?: string | undefined }
  /** Its bytes are not those of its record, or it has no record. */
  | { kind: 'damaged'; id: string; bytes: number }
  /** Not a file of an image. */
  | { kind: 'stray'; name: string }

/**
 * What each file of a folder is, read to its last byte, in the order of their names from the one after `after`. Blocks the
 * thread for each: for a command, which does nothing else, that is several times as fast for small files.
 */
export async function* auditFolder(folder: string, after: string): AsyncGenerator<Audited> {
  const names = (await readdir(folder)).sort()
  for (const name of names) {
    if (name <= after) continue
    if (!ID_PATTERN.test(name)) yield { kind: 'stray', name }
    else {
      const audited = auditFile(folder, name)
      if (audited !== null) yield audited
    }
  }
}

function isWhole(file: Buffer, record: ImageRecord): boolean {
  const comparison = compareDigests(record)
  comparison.update(file.subarray(0, storedSize(record)), 0)
  return comparison.isSound()
}

/** Grown to the largest image, and kept. */
let memory = Buffer.allocUnsafeSlow(PIECE_BYTES)

/** `null` if it is gone: servers go on. Throws what the disk says. */
function auditFile(folder: string, id: string): Audited | null {
  let descriptor: number
  try {
    descriptor = openSync(join(folder, id), 'r')
  } catch (error) {
    if (isCode(error, 'ENOENT')) return null
    throw error
  }
  try {
    const stat = fstatSync(descriptor)
    if (!stat.isFile()) return { kind: 'stray', name: id }
    if (memory.length < stat.size) memory = Buffer.allocUnsafeSlow(stat.size)
    let filled = 0
    while (filled < stat.size) {
      const read = readSync(descriptor, memory, filled, stat.size - filled, filled)
      if (read === 0) break
      filled += read
    }
    const file = memory.subarray(0, filled)
    const record = decodeTrailer(file.subarray(filled - tailLength(filled)), filled)?.record
    return record?.id === id && isWhole(file, record)
      ? { kind: 'sound', id, bytes: filled, expiresAt: record.expiresAt }
      : { kind: 'damaged', id, bytes: filled }
  } catch (error) {
    if (isCode(error, 'EISDIR')) return { kind: 'stray', name: id }
    if (isCode(error, 'EIO')) return { kind: 'damaged', id, bytes: 0 }
    throw error
  } finally {
    closeSync(descriptor)
  }
}
