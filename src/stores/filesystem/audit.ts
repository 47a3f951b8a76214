/**
 * Reads a folder of images to its last byte, and says of each file what it is. For a process that does nothing else:
 * it reads without leaving the thread, which is several times as fast for small files. Node only.
 */
import { hash } from 'node:crypto'
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { PIECE_BYTES } from '../../formats/image.ts'
import { ID_PATTERN } from '../../protocol.ts'
import { isCode } from './faults.ts'
import { decodeInterrupted, decodeTrailer, tailLength } from './trailer.ts'

export type Audited =
  | { kind: 'sound'; id: string; bytes: number }
  /** Its bytes are not those of its record, or it has no record. */
  | { kind: 'damaged'; id: string; bytes: number }
  /** Not a file of an image. */
  | { kind: 'stray'; name: string }

/** Grown to the largest image, and kept. Unit: bytes. */
let buffer = Buffer.allocUnsafeSlow(PIECE_BYTES)

/** Files are checked in the order of their names, from the one after `after`. */
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
    if (buffer.length < stat.size) buffer = Buffer.allocUnsafeSlow(stat.size)
    let filled = 0
    while (filled < stat.size) {
      const read = readSync(descriptor, buffer, filled, stat.size - filled, filled)
      if (read === 0) break
      filled += read
    }
    const file = buffer.subarray(0, filled)
    const tailBytes = tailLength(filled)
    const trailer =
      decodeTrailer(file.subarray(filled - tailBytes), filled) ??
      decodeInterrupted(file.subarray(Math.max(0, filled - 2 * tailBytes)), filled)
    const isSound =
      trailer !== null &&
      trailer.record.id === id &&
      hash('sha256', file.subarray(0, trailer.record.size), 'hex') === trailer.record.sha256
    return { kind: isSound ? 'sound' : 'damaged', id, bytes: filled }
  } catch (error) {
    if (isCode(error, 'EISDIR')) return { kind: 'stray', name: id }
    if (isCode(error, 'EIO')) return { kind: 'damaged', id, bytes: 0 }
    throw error
  } finally {
    closeSync(descriptor)
  }
}
