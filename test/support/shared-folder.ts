/** A folder that other accounts look into: containers, other users. */
import { chmod, stat } from 'node:fs/promises'

/** Lets everybody read `folder`, and takes nothing from anybody: it may be the system's own folder for temporary files. */
export async function letOthersRead(folder: string): Promise<void> {
  const { mode } = await stat(folder)
  await chmod(folder, mode | 0o055)
}
