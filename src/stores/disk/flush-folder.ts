/** Fsync of a folder. Node only. */
import { open } from 'node:fs/promises'

/** Makes the names that were created in or removed from `folder` durable. */
export async function flushFolder(folder: string): Promise<void> {
  await using handle = await open(folder, 'r')
  await handle.sync()
}
