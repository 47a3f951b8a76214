/** Makes names in a folder durable. Node only. */
import { open } from 'node:fs/promises'

/** Names that were made or removed in it are on the disk when this resolves. */
export async function flushFolder(folder: string): Promise<void> {
  await using handle = await open(folder, 'r')
  await handle.sync()
}
