import { join } from 'node:path'
import { openSqliteLedger } from '../../src/stores/sqlite/ledger.ts'
import { folderOf } from './folder.ts'

/**
 * A SQLite ledger that is closed when the test ends. `t.after` hooks run in order of registration: first register the one that
 * stops the ledger's users.
 */
export async function ledgerOf(t: { after(close: () => Promise<void>): void }, folder?: string) {
  const ledger = await openSqliteLedger({ file: join(folder ?? (await folderOf(t)), 'ledger.sqlite') })
  t.after(() => ledger.close())
  return ledger
}
