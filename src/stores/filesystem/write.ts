/** Writes files, and each to the disk, with few trips to the thread pool. Node only. */
import { closeSync, constants, fsync, open, writev } from 'node:fs'
import { promisify } from 'node:util'

const openFile = promisify(open)
const writePieces = promisify(writev)
const flush = promisify(fsync)

export const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL

/** May leave a part of the file when it throws. */
export async function writeFlushed(path: string, flags: number, pieces: Uint8Array[]): Promise<void> {
  const descriptor = await openFile(path, flags, 0o600)
  try {
    let left = pieces
    while (left.length > 0) {
      const { bytesWritten } = await writePieces(descriptor, left)
      left = after(left, bytesWritten)
    }
    await flush(descriptor)
  } finally {
    // The file was flushed, or is given up: nothing is left that could take long or be lost.
    closeSync(descriptor)
  }
}

/** What is left of the pieces after so many bytes: a write may be short. */
function after(pieces: Uint8Array[], bytes: number): Uint8Array[] {
  let written = bytes
  const left: Uint8Array[] = []
  for (const piece of pieces) {
    if (written < piece.length) left.push(piece.subarray(written))
    written = Math.max(0, written - piece.length)
  }
  return left
}
