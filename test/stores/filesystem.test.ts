import { mkdtemp, open, readdir, readlink, rm, stat, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import { openFilesystemStore } from '../../src/stores/filesystem.ts'
import { type OpenedStore, objectStoreContract } from '../contracts/object-store.ts'

async function openStore(hotSetBytes: number): Promise<OpenedStore> {
  const folder = await mkdtemp(join(tmpdir(), 'pinhole-store-'))
  const pathOf = (id: string) => join(folder, 'objects', id)
  const store = await openFilesystemStore({ folder, hotSetBytes })
  return {
    store,
    async close() {
      await store.close()
      await rm(folder, { recursive: true, force: true })
    },
    reopen: () => openFilesystemStore({ folder, hotSetBytes }),
    async corrupt(id, damage) {
      const { size } = await stat(pathOf(id))
      if (damage === 'cut') return truncate(pathOf(id), size - 1000)
      const file = await open(pathOf(id), 'r+')
      const byte = Buffer.alloc(1)
      const middle = Math.floor(size / 2)
      await file.read(byte, 0, 1, middle)
      byte[0] ^= 1
      await file.write(byte, 0, 1, middle)
      await file.close()
    },
    leftovers: () => readdir(join(folder, 'incoming')),
    handles: () => handlesBelow(folder),
  }
}

/** Images and drafts below `folder` that this process has open, where the system tells. */
async function handlesBelow(folder: string): Promise<number> {
  const links = await readdir('/proc/self/fd').catch(() => [])
  const targets = await Promise.all(links.map((link) => readlink(`/proc/self/fd/${link}`).catch(() => '')))
  const folders = ['objects', 'incoming'].map((name) => join(folder, name) + sep)
  return targets.filter((target) => folders.some((folder) => target.startsWith(folder))).length
}

objectStoreContract('filesystem', () => openStore(64 * 1024 * 1024))
objectStoreContract('filesystem without memory', () => openStore(0), { modelRuns: 5 })
