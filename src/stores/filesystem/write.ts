/** Writes images to files, and each to the disk, with few trips to the thread pool. Node only. */
import { closeSync, constants, fsync, open, writev } from 'node:fs'
import { type FileHandle, open as openHandle, rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { Segment } from '../../formats/image.ts'
import type { Spooled } from '../drafts/spool.ts'

const openFile = promisify(open)
const writePieces = promisify(writev)
const flush = promisify(fsync)

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL

/** A file system that writes nothing past the page cache says one of these (open(2), write(2)). */
const NOT_DIRECT = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP'])

export interface ObjectWriter {
  /**
   * A new file of what the segments say and then the trailer, on the disk when it resolves. `trailerAfter`: for so many
   * bytes before it, if the file is to end with a whole page. It may leave a part of the file when it throws.
   */
  write(
    path: string,
    spooled: Spooled,
    segments: Segment[],
    trailerAfter: (bytes?: number) => Uint8Array,
  ): Promise<void>
}

export function createObjectWriter(): ObjectWriter {
  // Unknown to systems that are not Linux.
  let writesDirectly = constants.O_DIRECT !== undefined

  /**
   * `pages`: whole ones. Past the page cache, where that works: copying an image there costs several times as much as
   * all else about writing it, and most are read from `hot-set.ts` later, or never.
   */
  async function writePages(path: string, pages: Uint8Array): Promise<void> {
    if (writesDirectly) {
      try {
        return await writeFlushed(path, NEW_FILE | constants.O_DIRECT, [pages])
      } catch (error) {
        if (!NOT_DIRECT.has((error as NodeJS.ErrnoException).code ?? '')) throw error
        writesDirectly = false
        await rm(path, { force: true })
      }
    }
    await writeFlushed(path, NEW_FILE, [pages])
  }

  return {
    async write(path, spooled, segments, trailerAfter) {
      const pages = spooled.gather(segments, trailerAfter)
      if (pages !== null) return writePages(path, pages)
      if (spooled.file === null) {
        const pieces: Uint8Array[] = []
        for await (const piece of spooled.bytes(segments)) pieces.push(piece)
        return writeFlushed(path, NEW_FILE, [...pieces, trailerAfter()])
      }
      await using handle = await openHandle(path, NEW_FILE, 0o600)
      for await (const piece of spooled.bytes(segments)) await handle.appendFile(piece)
      await completeFile(handle, trailerAfter())
    },
  }
}

/** Appends the trailer to a file that holds the image already. */
export async function completeFile(handle: FileHandle, trailer: Uint8Array): Promise<void> {
  await handle.appendFile(trailer)
  await handle.sync()
}

async function writeFlushed(path: string, flags: number, pieces: Uint8Array[]): Promise<void> {
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
