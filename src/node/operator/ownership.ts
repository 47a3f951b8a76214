/** Hands files that a command wrote as root to the data folder's owner, so that the service's account can read them. */
import { lchownSync, lstatSync, opendirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Folders that may hold a million images. Most commands don't write images, so these are skipped for them. */
const IMAGES = ['images/objects', 'images/held']

/**
 * Changes the owner of everything owned by root in `folder` to the owner of `folder`. A no-op for other users, and if root
 * owns the folder. `images`: includes the images; for commands that write them.
 */
export function restoreOwnership(folder: string, { images }: { images: boolean }): void {
  if (process.getuid?.() !== 0) return
  const owner = statSync(folder, { throwIfNoEntry: false })
  if (owner === undefined || owner.uid === 0) return
  const skipped = new Set(images ? [] : IMAGES.map((name) => join(folder, name)))
  chownTree(folder, owner, skipped)
}

function chownTree(folder: string, { uid, gid }: { uid: number; gid: number }, skipped: Set<string>): void {
  using entries = opendirSync(folder)
  for (let entry = entries.readSync(); entry !== null; entry = entries.readSync()) {
    const path = join(folder, entry.name)
    // Servers are running: the file may have disappeared.
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats === undefined) continue
    if (stats.uid === 0) lchownIfExists(path, uid, gid)
    if (stats.isDirectory() && !skipped.has(path)) chownTree(path, { uid, gid }, skipped)
  }
}

function lchownIfExists(path: string, uid: number, gid: number): void {
  try {
    lchownSync(path, uid, gid)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
