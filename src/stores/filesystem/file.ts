/** Files by their descriptors: a `FileHandle` of Node's costs twice as much. Node only. */
import { closeSync, fstatSync, open, read, readSync, type Stats } from 'node:fs'
import { promisify } from 'node:util'
import { cachedReads, openKnown } from './page-cache.ts'

const openPath = promisify(open)
const readInto = promisify(read)

export interface OpenFile {
  readonly descriptor: number
  /** Unit: bytes. */
  readonly size: number
  /** Tells it from any file that has its name later. */
  readonly identity: string
}

/** To be closed by `closeFile`. */
export async function openFile(path: string): Promise<OpenFile> {
  return opened(await openPath(path, 'r'))
}

/**
 * As `openFile`, for a file that was open a short while ago: if the kernel still knows its name, a trip to another thread
 * costs five times as much.
 */
export async function openKnownFile(path: string): Promise<OpenFile> {
  const descriptor = openKnown(path)
  return descriptor < 0 ? openFile(path) : opened(descriptor)
}

function opened(descriptor: number): OpenFile {
  try {
    // Of an open file the kernel knows this without the disk.
    const stats = fstatSync(descriptor)
    return { descriptor, size: stats.size, identity: identityOf(stats) }
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

/**
 * Which file has the name `path` now, if it ends with `tail` and is `size` bytes long. `null` if not, or if there is none.
 * For a file that was read a moment ago: it waits for the kernel's memory, and not for a disk.
 */
export function identityIfSame(path: string, size: number, tail: Buffer): string | null {
  const descriptor = openKnown(path)
  if (descriptor < 0) return null
  try {
    const stats = fstatSync(descriptor)
    if (stats.size !== size) return null
    const found = Buffer.allocUnsafe(tail.length)
    const read = readSync(descriptor, found, 0, tail.length, size - tail.length)
    return read === tail.length && found.equals(tail) ? identityOf(stats) : null
  } catch {
    return null
  } finally {
    closeSync(descriptor)
  }
}

/** An inode may be used again, but not with the time of the last write. */
export function identityOf({ ino, mtimeMs }: Pick<Stats, 'ino' | 'mtimeMs'>): string {
  return `${ino} ${mtimeMs}`
}

/** At once: what was only read has nothing to write back, and a trip to another thread costs ten times as much. */
export function closeFile({ descriptor }: OpenFile): void {
  closeSync(descriptor)
}

/** Fills `into` from `offset` on. Throws if the file ends before. */
export async function readFully<T extends Uint8Array>(file: OpenFile, offset: number, into: T): Promise<T> {
  for (let filled = 0; filled < into.length; ) {
    const { bytesRead } = await readInto(file.descriptor, into, filled, into.length - filled, offset + filled)
    if (bytesRead === 0) throw new CutShort()
    filled += bytesRead
  }
  return into
}

/** As `readFully`, on this thread if the kernel has the bytes in its memory: for what is small, as it copies them at once. */
export async function readSoon<T extends Uint8Array>(file: OpenFile, offset: number, into: T): Promise<T> {
  const length = cachedReads()?.(file.descriptor, into, offset)
  return length === into.length ? into : readFully(file, offset, into)
}

/** A file has fewer bytes than it had. */
export class CutShort extends Error {
  constructor() {
    super('the file ended early')
    this.name = 'CutShort'
  }
}
