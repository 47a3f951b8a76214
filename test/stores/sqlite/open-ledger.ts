/** SQLite ledgers in temporary folders, removed after the test. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { openSqliteLedger } from '../../../src/stores/sqlite/ledger.ts'
import { folderOf } from '../../support/folder.ts'

/** A ledger, and a separate connection to its file. */
export async function ledgerOf(t: TestContext) {
  const folder = await folderOf(t)
  const file = join(folder, 'ledger.sqlite')
  const ledger = await openSqliteLedger({ file })
  const raw = new DatabaseSync(file)
  const opened = [raw]
  t.after(async () => {
    for (const connection of opened) connection.close()
    await ledger.close()
  })
  /** The private file of one day, created if necessary. */
  async function dayOf(kind: 'usage' | 'links', day: string) {
    if (kind === 'usage') await ledger.takeCapacity('none', day, 0, 1)
    else {
      const tags = { id: 'x', atMs: Date.parse(day), number: 1, tagA: 'none', tagB: 'none' }
      await ledger.reserveUpload('none', day, 1, undefined, { tags })
      await ledger.releaseUpload('none', day, undefined, { tags })
    }
    const path = join(folder, 'private', `${kind}-${day}.sqlite`)
    const connection = new DatabaseSync(path)
    opened.push(connection)
    return { raw: connection, file: path }
  }
  return { ledger, raw, file, folder, dayOf }
}
