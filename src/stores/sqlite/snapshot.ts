/** Snapshot of a ledger in SQLite while servers keep writing to it. */
import { rm } from 'node:fs/promises'
import { backup, DatabaseSync } from 'node:sqlite'
import { pragma } from './connection.ts'

/** Writes a consistent copy to `target`: copying the file would miss its log (https://www.sqlite.org/backup.html). */
export async function snapshotSqlite(file: string, target: string): Promise<void> {
  const connection = new DatabaseSync(file, { readOnly: true, timeout: 5000 })
  try {
    await backup(connection, target)
  } catch (error) {
    await rm(target, { force: true })
    throw error
  } finally {
    connection.close()
  }
  const copy = new DatabaseSync(target)
  try {
    // A single file, without a separate log.
    copy.exec('pragma journal_mode = delete')
    const found = pragma(copy, 'integrity_check')
    if (found !== 'ok') throw new Error(`the ledger is damaged: ${found}`)
  } finally {
    copy.close()
  }
}
