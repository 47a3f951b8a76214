/** Finds out whether an image could be written now, by writing a file that is not an image. Node only. */
import { open, rename, rm } from 'node:fs/promises'
import { PAGE_BYTES } from './trailer.ts'

/** `path`: of a draft, so that what a killed process left goes with its drafts. */
export async function writeProbe(path: string, flushFolder: () => Promise<void>): Promise<void> {
  try {
    await using handle = await open(path, 'wx', 0o600)
    await handle.writeFile(Buffer.alloc(PAGE_BYTES))
    await handle.sync()
    await rename(path, `${path}.probe`)
  } finally {
    await rm(path, { force: true })
    await rm(`${path}.probe`, { force: true })
  }
  await flushFolder()
}
