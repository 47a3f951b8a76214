/**
 * Verifies whole images against the SHA-256 digests of their records: a single image, to which missing block digests are then
 * added, or a folder of images. Node only.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { CHUNK_BYTES } from '../../formats/image.ts'
import { ID_PATTERN } from '../../protocol.ts'
import { isCode } from '../disk/faults.ts'
import { DamagedObject, type ImageRecord, storedSize } from '../object-store.ts'
import { compareDigests, hashImage, readTrailer, withFile } from './reader.ts'
import { decodeTrailer, encodeTrailer, tailLength } from './trailer.ts'

/** `null` if there is no image. Throws `DamagedObject`, `StoreUnavailable`. */
export function verifyImage(path: string, id: string): Promise<ImageRecord | null> {
  return withFile(path, id, async (file) => {
    const trailer = await readTrailer(file, id)
    if (trailer === null) return null
    const { record } = trailer
    const digests = await hashImage(file, record)
    if (trailer.digests === null) await append(path, file.size, encodeTrailer({ record, digests }))
    // The image itself is sound, so its digests are damaged.
    else if (!digests.equals(trailer.digests)) throw new DamagedObject(id)
    return record
  })
}

/** Appends in place: replacing the file could bring back an image that was removed meanwhile. */
async function append(path: string, size: number, trailer: Buffer): Promise<void> {
  await using handle = await open(path, 'r+')
  await handle.write(trailer, 0, trailer.length, size)
  await handle.sync()
}

export type CheckedFile =
  | { kind: 'sound'; id: string; bytes: number; expiresAt?: string | undefined }
  /** The bytes do not match the record, or there is no record. */
  | { kind: 'damaged'; id: string; bytes: number }
  /** Not an image file. */
  | { kind: 'stray'; name: string }

/**
 * Reads every file of a folder completely and classifies it, in order of names. Synchronous reads: in a command, which has
 * nothing else to do, they are several times faster for small files.
 */
export async function* checkFolder(folder: string): AsyncGenerator<CheckedFile> {
  const names = (await readdir(folder)).sort()
  for (const name of names) {
    if (!ID_PATTERN.test(name)) yield { kind: 'stray', name }
    else {
      const checked = checkFile(folder, name)
      if (checked !== null) yield checked
    }
  }
}

function isWhole(file: Buffer, record: ImageRecord): boolean {
  const comparison = compareDigests(record)
  comparison.update(file.subarray(0, storedSize(record)), 0)
  return comparison.isSound()
}

/** Reused for all files; grows to the largest one. */
let memory = Buffer.allocUnsafeSlow(CHUNK_BYTES)

/** `null` if the file is gone, since servers may be running meanwhile. Throws raw file-system errors. */
function checkFile(folder: string, id: string): CheckedFile | null {
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
