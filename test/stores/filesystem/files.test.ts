import assert from 'node:assert/strict'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { filesContract } from '../../contracts/files.ts'
import { folderOf, newFolder } from '../../support/folder.ts'
import { dyingAt } from '../../support/gate.ts'
import '../../support/gated-disk.ts'

// After the calls to the disk are patched.
const { openFolderFiles } = await import('../../../src/stores/filesystem/files.ts')

filesContract('folder', async () => {
  const parent = await newFolder()
  const folder = join(parent, 'place')
  return {
    files: openFolderFiles(folder),
    reopen: () => openFolderFiles(folder),
    dying: dyingAt,
    close: () => rm(parent, { recursive: true }),
  }
})

test('a folder that is missing is made when that is asked for, and never by a write', async (t) => {
  const parent = await folderOf(t)
  const files = openFolderFiles(join(parent, 'mount', 'place'))
  await assert.rejects(files.write('a', new Uint8Array(1)), /ENOENT/)
  await assert.rejects(files.make(), /ENOENT/)
  assert.deepEqual(await readdir(parent), [])
})
