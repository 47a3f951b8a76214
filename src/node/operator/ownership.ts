/** Files that a command writes as root belong to the folder's owner: the service's account has to read them. */
import { lchownSync, lstatSync, opendirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** A million images are in them, and most commands only move some. */
const IMAGES = ['images/objects', 'images/held']

/**
 * Gives what root owns in `folder` to the owner of `folder`. Does nothing for other users, and where root owns the folder.
 * `images`: those too; for commands that write images.
 */
export function giveToOwner(folder: string, { images }: { images: boolean }): void {
  if (process.getuid?.() !== 0) return
  const owner = statSync(folder, { throwIfNoEntry: false })
  if (owner === undefined || owner.uid === 0) return
  const skipped = new Set(images ? [] : IMAGES.map((name) => join(folder, name)))
  give(folder, owner, skipped)
}

function give(folder: string, { uid, gid }: { uid: number; gid: number }, skipped: Set<string>): void {
  using entries = opendirSync(folder)
  for (let entry = entries.readSync(); entry !== null; entry = entries.readSync()) {
    const path = join(folder, entry.name)
    // Servers go on meanwhile: a file may be gone again.
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats === undefined) continue
    if (stats.uid === 0) lchownIfThere(path, uid, gid)
    if (stats.isDirectory() && !skipped.has(path)) give(path, { uid, gid }, skipped)
  }
}

function lchownIfThere(path: string, uid: number, gid: number): void {
  try {
    lchownSync(path, uid, gid)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
