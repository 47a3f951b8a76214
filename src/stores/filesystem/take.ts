/** Gives a file its name where another process may be about to give the same one, or to retire it. Node only. */
import { link, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { IdTaken } from '../object-store.ts'
import { isCode, isThere } from './faults.ts'
import { identityOf } from './file.ts'
import type { FolderFlush } from './folder-flush.ts'

/** What file systems without hard links say (link(2)). */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']

/**
 * Moves `path`, whose name `retire.ts` recognizes, to `target`. A link never replaces a file, as a rename does. Throws
 * `IdTaken` when whoever has the name is on the disk, if one of the files `taken` is there, and if `path` was taken away
 * because the name is being retired. Resolves to the identity of the file.
 */
export async function take(
  path: string,
  target: string,
  { taken, flushes }: { taken: string[]; flushes: FolderFlush },
): Promise<string> {
  const [stats, ...areTaken] = await Promise.all([stat(path).catch(takenAway), ...taken.map(isThere)])
  if (areTaken.includes(true)) throw new IdTaken()
  try {
    await link(path, target)
  } catch (error) {
    if (isCode(error, 'EEXIST')) {
      await flushes.flush(dirname(target))
      throw new IdTaken()
    }
    if (!isCode(error, ...NO_LINKS)) takenAway(error)
    if (await isThere(target)) throw new IdTaken()
    await rename(path, target).catch(takenAway)
    return identityOf(stats)
  }
  // What is left of it is cleared away at the next start.
  await rm(path, { force: true }).catch(() => {})
  return identityOf(stats)
}

function takenAway(error: unknown): never {
  throw isCode(error, 'ENOENT') ? new IdTaken() : error
}
