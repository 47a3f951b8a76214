/** Temporary folders for tests. */
import { chmod, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder that is removed at the end of the test run at the latest. */
export function newFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'pinhole-'))
}

/** A folder that is removed when the test ends. */
export async function folderOf(t: { after(remove: () => Promise<void>): void }): Promise<string> {
  const folder = await newFolder()
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/**
 * Lets other users, such as those in containers, read `folder`. Only adds permissions, since it may be the system's temporary
 * folder.
 */
export async function letOthersRead(folder: string): Promise<void> {
  const { mode } = await stat(folder)
  await chmod(folder, mode | 0o055)
}
