/** The store's folders. Whoever may list them knows every id, so they are their owner's alone. Node only. */
import { chmod, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isCode } from './faults.ts'
import { createFolderFlush } from './folder-flush.ts'

const OWNER_ONLY = 0o700

/** Makes folders below `parent` if they are missing, and brings their names to the disk. */
export async function makeFolders(parent: string, names: string[]): Promise<void> {
  for (const folder of ['', ...names]) await makePrivate(join(parent, folder))
  // Every time: the process that made them may have died before it flushed.
  const flushes = createFolderFlush()
  for (const folder of [parent, join(parent, '..')]) await flushes.flush(folder)
  await flushes.close()
}

/** Also one that is there already. */
export async function makePrivate(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: OWNER_ONLY })
  try {
    await chmod(folder, OWNER_ONLY)
  } catch (error) {
    // Somebody else's folder that we may write to: a volume, whose rights are its owner's business.
    if (!isCode(error, 'EPERM', 'EROFS', 'ENOTSUP')) throw error
  }
}
