/**
 * Ids that are never given again: an empty file each, written before the image goes. Node only.
 *
 * A commit of a contended id (`take.ts`) has a draft whose name ends with the id. It looks for the retired id, and then
 * links the draft to its place. A retirement writes the id down, then takes such drafts away, and then the image. So a
 * commit either finds the id retired, or its draft gone, or the image still in its place: it never gets the name of an
 * image that went meanwhile.
 */
import { open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Removal } from '../object-store.ts'
import { isCode, storeFault } from './faults.ts'
import type { FolderFlush } from './folder-flush.ts'

/** Only for an id that has an image. */
export type Retire = (id: string, how: Removal['retire']) => Promise<void>

export function createRetire(parts: { retired: string; incoming: string; flushes: FolderFlush }): Retire {
  const { retired, incoming, flushes } = parts

  async function writeDown(id: string): Promise<void> {
    await (await open(join(retired, id), 'a', 0o600)).close()
    await flushes.flush(retired)
  }

  return async (id, how) => {
    await writeDown(id).catch((error) => {
      if (how === 'surely' || !isCode(error, 'ENOSPC', 'EDQUOT')) storeFault(error)
    })
    for (const name of await readdir(incoming)) {
      if (name.endsWith(draftSuffix(id))) await rm(join(incoming, name), { force: true })
    }
  }
}

/** Of the name of a draft that is about to take a contended id. */
export function draftSuffix(id: string): string {
  return `.${id}`
}
