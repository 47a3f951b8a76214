/** A store's folder that a test inspects and changes behind the store's back. */

import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type FilesystemStore, openFilesystemStore } from '../../src/stores/filesystem/store.ts'
import { folderOf } from './folder.ts'

export interface StoreFolder {
  folder: string
  pathOf(id: string): string
  /** Closed after the test. */
  openStore(hotSetBytes?: number): Promise<FilesystemStore>
}

export async function storeFolder(t: TestContext): Promise<StoreFolder> {
  const folder = await folderOf(t)
  const stores: FilesystemStore[] = []
  t.after(async () => {
    for (const store of stores) await store.close()
  })
  return {
    folder,
    pathOf: (id) => join(folder, 'objects', id),
    async openStore(hotSetBytes = 0) {
      const store = await openFilesystemStore({ folder, hotSetBytes })
      stores.push(store)
      return store
    },
  }
}

/** Flips one bit of the byte at `offset`. A second call restores it. */
export async function flipBit(path: string, offset: number, bit = 0): Promise<void> {
  await using file = await open(path, 'r+')
  const byte = Buffer.alloc(1)
  await file.read(byte, 0, 1, offset)
  byte.writeUInt8(byte.readUInt8() ^ (1 << bit))
  await file.write(byte, 0, 1, offset)
}
