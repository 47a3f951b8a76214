/** Files whose bytes must not be found again. */
import { type FileHandle, open, rename, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

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
    const handle = await open(doomed, 'r+')
    try {
      await overwrite(handle)
    } finally {
      await handle.close()
    }
    await unlink(doomed)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return
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

/** Names that were made or removed in it are on the disk when this resolves. */
export async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
