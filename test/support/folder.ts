/** Folders of tests. */
import { chmod, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder that goes with the run of the test, if nobody removes it before. */
export function newFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'pinhole-'))
}

/** A folder of a test's own, which goes when it ends. */
export async function folderOf(t: { after(remove: () => Promise<void>): void }): Promise<string> {
  const folder = await newFolder()
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/**
 * Lets other accounts read `folder`, containers and other users, and takes nothing from anybody: it may be the system's own folder for
 * temporary files.
 */
export async function letOthersRead(folder: string): Promise<void> {
  const { mode } = await stat(folder)
  await chmod(folder, mode | 0o055)
}
