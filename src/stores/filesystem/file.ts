/** Files by their descriptors: a `FileHandle` of Node's costs twice as much. Node only. */
import { close, closeSync, fstatSync, open, read } from 'node:fs'
import { promisify } from 'node:util'

const openPath = promisify(open)
const readInto = promisify(read)

export interface OpenFile {
  readonly descriptor: number
  /** Unit: bytes. */
  readonly size: number
}

/** To be closed by `closeFile`. */
export async function openFile(path: string): Promise<OpenFile> {
  const descriptor = await openPath(path, 'r')
  try {
    // Of an open file the kernel knows this without the disk.
    return { descriptor, size: fstatSync(descriptor).size }
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

export function closeFile({ descriptor }: OpenFile): void {
  close(descriptor, () => {})
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
