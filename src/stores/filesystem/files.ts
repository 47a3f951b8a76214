/** `Files` in a folder: temporary file, fsync, rename, fsync of the folder. Node only. */
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ignoring, unlessAbsent } from '../disk/faults.ts'
import { flushFolder } from '../disk/flush-folder.ts'
import { writeFlushed } from '../disk/write-flushed.ts'
import type { Files } from '../files.ts'

const OWNER_ONLY = 0o700

/** Suffix of a temporary file. A process that dies during a write leaves one; the next write to that name replaces it. */
const UNFINISHED = '.part'

export function openFolderFiles(folder: string): Files {
  return {
    async make() {
      await mkdir(folder, { mode: OWNER_ONLY }).catch(ignoring('EEXIST'))
      await flushFolder(join(folder, '..'))
    },
    async names() {
      const entries = await readdir(folder, { withFileTypes: true }).catch(unlessAbsent([]))
      const files = entries.filter((entry) => !entry.isDirectory() && !entry.name.endsWith(UNFINISHED))
      return files.map(({ name }) => name).sort()
    },
    read: (name) => readFile(join(folder, name)).catch(unlessAbsent(null)),
    async write(name, bytes) {
      const path = join(folder, name)
      // Private: IP addresses could be tested against the buckets of a ledger.
      await writeFlushed(path + UNFINISHED, bytes, 'w')
      await rename(path + UNFINISHED, path)
      await flushFolder(folder)
    },
    async remove(name) {
      await rm(join(folder, name), { force: true })
      await flushFolder(folder).catch(ignoring('ENOENT'))
    },
    close: async () => {},
  }
}
