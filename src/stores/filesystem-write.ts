/** Writes images to files, and each to the disk, with few trips to the thread pool. Node only. */
import { closeSync, fsync, open, writev } from 'node:fs'
import { type FileHandle, open as openHandle } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { Segment } from '../formats/image.ts'
import type { Spooled } from './spool.ts'

const openFile = promisify(open)
const writePieces = promisify(writev)
const flush = promisify(fsync)

/** A new file of what the segments say, and the trailer. It may leave a part of it when it throws. */
export async function writeObject(
  path: string,
  spooled: Spooled,
  segments: Segment[],
  trailer: Uint8Array,
): Promise<void> {
  if (spooled.file === null) {
    const pieces: Uint8Array[] = []
    for await (const piece of spooled.bytes(segments)) pieces.push(piece)
    return writeFlushed(path, [...pieces, trailer])
  }
  await using handle = await openHandle(path, 'wx', 0o600)
  for await (const piece of spooled.bytes(segments)) await handle.appendFile(piece)
  await completeFile(handle, trailer)
}

/** Appends the trailer to a file that holds the image already. */
export async function completeFile(handle: FileHandle, trailer: Uint8Array): Promise<void> {
  await handle.appendFile(trailer)
  await handle.sync()
}

async function writeFlushed(path: string, pieces: Uint8Array[]): Promise<void> {
  const descriptor = await openFile(path, 'wx', 0o600)
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
