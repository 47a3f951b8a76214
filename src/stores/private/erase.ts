/** Files whose bytes must not be found again. */
import { type FileHandle, open, rename, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { unlessAbsent } from '../disk/faults.ts'
import { flushFolder } from '../disk/flush-folder.ts'

const PIECE = 1024 * 1024

/** Begins the name of a file that is being erased. */
const ERASED = 'erased-'

/**
 * Takes a file away from its name, overwrites it and removes it; each step is on the disk before the next. A file that is
 * not there is erased. May be called again for one whose erasure was interrupted.
 */
export async function eraseFile(path: string): Promise<void> {
  const folder = dirname(path)
  const doomed = basename(path).startsWith(ERASED)
    ? path
    : join(folder, `${ERASED}${crypto.randomUUID().slice(0, 8)}-${basename(path)}`)
  try {
    // Nobody may open by its name what is half overwritten.
    if (doomed !== path) await rename(path, doomed)
    {
      await using handle = await open(doomed, 'r+')
      await overwrite(handle)
    }
    await unlink(doomed)
  } catch (error) {
    return unlessAbsent(undefined)(error)
  }
  await flushFolder(folder)
}

async function overwrite(handle: FileHandle): Promise<void> {
  const { size } = await handle.stat()
  const zeros = Buffer.alloc(Math.min(PIECE, size))
  for (let at = 0; at < size; ) {
    const { bytesWritten } = await handle.write(zeros, 0, Math.min(PIECE, size - at), at)
    at += bytesWritten
  }
  await handle.sync()
  await handle.truncate(0)
  await handle.sync()
}
