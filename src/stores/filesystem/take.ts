/** Gives a file its name where another process may be about to give the same one. Node only. */
import { link, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { IdTaken } from '../object-store.ts'
import { isCode, isThere } from './faults.ts'
import type { FolderFlush } from './folder-flush.ts'

/** What file systems without hard links say (link(2)). */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']

/**
 * Moves `path` to `target`. A link never replaces a file, as a rename does. Throws `IdTaken` when whoever has the name is
 * on the disk.
 */
export async function take(path: string, target: string, flushes: FolderFlush): Promise<void> {
  try {
    await link(path, target)
  } catch (error) {
    if (isCode(error, 'EEXIST')) {
      await flushes.flush(dirname(target))
      throw new IdTaken()
    }
    if (!isCode(error, ...NO_LINKS)) throw error
    if (await isThere(target)) throw new IdTaken()
    await rename(path, target)
    return
  }
  // What is left of it is cleared away at the next start.
  await rm(path, { force: true }).catch(() => {})
}
