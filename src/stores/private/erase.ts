/** Secure erasure of files. */
import { type FileHandle, open, rename, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ignoring } from '../disk/faults.ts'
import { flushFolder } from '../disk/flush-folder.ts'

const CHUNK_BYTES = 1024 * 1024

/** Prefix of files being erased. */
const ERASED = 'erased-'

/**
 * Renames a file, overwrites it and removes it; each step is durable before the next. A missing file counts as erased. Can be
 * called again after an interruption.
 */
export async function eraseFile(path: string): Promise<void> {
  const folder = dirname(path)
  const erasing = basename(path).startsWith(ERASED)
    ? path
    : join(folder, `${ERASED}${crypto.randomUUID().slice(0, 8)}-${basename(path)}`)
  try {
    // No process may open a partly overwritten file by its name.
    if (erasing !== path) await rename(path, erasing)
    {
      await using handle = await open(erasing, 'r+')
      await overwrite(handle)
    }
    await unlink(erasing)
  } catch (error) {
    return ignoring('ENOENT')(error)
  }
  await flushFolder(folder)
}

async function overwrite(handle: FileHandle): Promise<void> {
  const { size } = await handle.stat()
  const zeros = Buffer.alloc(Math.min(CHUNK_BYTES, size))
  for (let at = 0; at < size; ) {
    const { bytesWritten } = await handle.write(zeros, 0, Math.min(CHUNK_BYTES, size - at), at)
    at += bytesWritten
  }
  await handle.sync()
  await handle.truncate(0)
  await handle.sync()
}
