/** Files by their descriptors: a `FileHandle` of Node's costs twice as much. Node only. */
import { closeSync, fstatSync, open, read, type Stats } from 'node:fs'
import { promisify } from 'node:util'

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
  const descriptor = await openPath(path, 'r')
  try {
    // Of an open file the kernel knows this without the disk.
    const stats = fstatSync(descriptor)
    return { descriptor, size: stats.size, identity: identityOf(stats) }
  } catch (error) {
    closeSync(descriptor)
    throw error
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

/** A file has fewer bytes than it had. */
export class CutShort extends Error {
  constructor() {
    super('the file ended early')
    this.name = 'CutShort'
  }
}
