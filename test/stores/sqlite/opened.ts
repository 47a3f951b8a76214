/** SQLite ledgers in folders of their own, gone when their test ends. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import Database from 'better-sqlite3'
import { openSqliteLedger } from '../../../src/stores/sqlite/ledger.ts'

export async function folderOf(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pinhole-sqlite-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** A ledger, and a connection of somebody else on its file. */
export async function ledgerOf(t: TestContext) {
  const folder = await folderOf(t)
  const file = join(folder, 'ledger.sqlite')
  const ledger = await openSqliteLedger({ file })
  const raw = new Database(file)
  t.after(async () => {
    raw.close()
    await ledger.close()
  })
  return { ledger, raw, file, folder }
}
