import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { openSqliteLedger } from '../../src/stores/sqlite/ledger.ts'
import { folderOf } from './folder.ts'

/** A ledger of a test's own, which goes when it ends. Hooks run in their order: what uses it is to be stopped by an earlier one. */
export async function ledgerOf(t: Pick<TestContext, 'after'>, folder?: string) {
  const ledger = await openSqliteLedger({ file: join(folder ?? (await folderOf(t)), 'ledger.sqlite') })
  t.after(() => ledger.close())
  return ledger
}
