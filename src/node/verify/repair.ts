/** Puts aside what `verify` found, or removes what should be gone. Nothing that could be an image is thrown away. */
import { mkdir, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Takedown } from '../../service/takedown.ts'
import type { ObjectStore } from '../../stores/object-store.ts'
import type { Finding } from './findings.ts'

/** What was done, in a word. */
export async function repair(
  finding: Finding,
  { objects, takedown, folder }: { objects: ObjectStore; takedown: Takedown; folder: string | null },
): Promise<string> {
  switch (finding.kind) {
    case 'damaged':
      if (await takedown.hold(finding.id, 'damaged: found by verify')) return 'held'
      // Another image's file, by its record: the store knows none of this name.
      return folder === null ? 'left' : putAside(folder, join('objects', finding.id))
    case 'removed':
      await objects.remove(finding.id)
      await objects.removeHeld(finding.id)
      return 'removed'
    case 'draft':
      await rm(join(folder!, finding.path), { force: true })
      return 'removed'
    case 'stray':
      return putAside(folder!, finding.path)
  }
}

async function putAside(folder: string, path: string): Promise<string> {
  await mkdir(join(folder, 'strays'), { recursive: true })
  await rename(join(folder, path), join(folder, 'strays', `${Date.now()}-${basename(path)}`))
  return 'put into strays'
}
