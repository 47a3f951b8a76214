import assert from 'node:assert/strict'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { filesContract } from '../../contracts/files.ts'
import { onFlush } from '../../support/disk-faults.ts'
import { folderOf, newFolder } from '../../support/folder.ts'
import { crashesAt } from '../../support/gate.ts'
import '../../support/gated-disk.ts'

// Imported after the disk calls are patched.
const { openFolderFiles } = await import('../../../src/stores/filesystem/files.ts')

filesContract('folder', async () => {
  const parent = await newFolder()
  const folder = join(parent, 'place')
  return {
    files: openFolderFiles(folder),
    reopen: () => openFolderFiles(folder),
    crashesAt,
    close: () => rm(parent, { recursive: true }),
  }
})

test('does not create a missing folder in write(), nor a missing parent in make()', async (t) => {
  const parent = await folderOf(t)
  const files = openFolderFiles(join(parent, 'mount', 'place'))
  await assert.rejects(files.write('a', new Uint8Array(1)), /ENOENT/)
  await assert.rejects(files.make(), /ENOENT/)
  assert.deepEqual(await readdir(parent), [])
})

test('lists no subfolders, such as lost+found', async (t) => {
  const folder = await folderOf(t)
  await mkdir(join(folder, 'lost+found'))
  assert.deepEqual(await openFolderFiles(folder).names(), [])
})

test('flushes a file before it is renamed, and the folder afterwards', async (t) => {
  const folder = await folderOf(t)
  const flushed: [kind: string, names: string[]][] = []
  await onFlush(t, async function () {
    flushed.push([(await this.stat()).isFile() ? 'file' : 'folder', await readdir(folder)])
  })
  await openFolderFiles(folder).write('a', new Uint8Array(1))
  assert.deepEqual(flushed, [
    ['file', ['a.part']],
    ['folder', ['a']],
  ])
})
