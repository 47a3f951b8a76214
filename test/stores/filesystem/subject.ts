/** The filesystem store with the hooks of the contract. */

import { readdir, rm, stat, truncate } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { openFilesystemStore } from '../../../src/stores/filesystem/store.ts'
import type { OpenedStore } from '../../contracts/object-store.ts'
import { newFolder } from '../../support/folder.ts'
import '../../support/gated-disk.ts'
import { openFiles } from '../../support/open-files.ts'
import { flipBit } from '../../support/store-folder.ts'

/** A store in a new folder. `hotSetBytes`: memory budget of the hot set; 0 disables it. */
export async function openSubject(hotSetBytes: number): Promise<OpenedStore> {
  const folder = await newFolder()
  const pathOf = (id: string) => join(folder, 'objects', id)
  const store = await openFilesystemStore({ folder, hotSetBytes })
  return {
    store,
    async close() {
      await store.close()
      await rm(folder, { recursive: true, force: true })
    },
    reopen: () => openFilesystemStore({ folder, hotSetBytes }),
    reopenLater: () => openFilesystemStore({ folder, hotSetBytes }),
    gated: () => openFilesystemStore({ folder, hotSetBytes }),
    async corrupt(id, damage) {
      const { size } = await stat(pathOf(id))
      if (damage === 'cut') return truncate(pathOf(id), size - 1000)
      return flipBit(pathOf(id), damage === 'record' ? size - 12 : Math.floor(size / 2))
    },
    leftovers: async () => [
      ...(await readdir(join(folder, 'incoming'))),
      ...(await readdir(join(folder, 'held'))),
    ],
    handles: () => handlesBelow(folder),
  }
}

/** Number of images and drafts below `folder` that this process has open. 0 on systems without `/proc`. */
async function handlesBelow(folder: string): Promise<number> {
  const folders = ['objects', 'incoming'].map((name) => join(folder, name) + sep)
  return (await openFiles()).filter((path) => folders.some((folder) => path.startsWith(folder))).length
}
