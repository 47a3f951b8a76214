/** A folder of a test's own, which goes when it ends. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

export async function folderOf(t: Pick<TestContext, 'after'>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pinhole-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}
