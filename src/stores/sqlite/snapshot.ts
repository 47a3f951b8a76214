/** A copy of a ledger that servers go on writing to. */
import { rm } from 'node:fs/promises'
import { backup, DatabaseSync } from 'node:sqlite'
import { pragma } from './connection.ts'

/**
 * Writes `target` as it was at one moment: copying the file would lose what is in its log
 * (https://www.sqlite.org/backup.html).
 */
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
    // One file, without a log beside it.
    copy.exec('pragma journal_mode = delete')
    const found = pragma(copy, 'integrity_check')
    if (found !== 'ok') throw new Error(`the ledger is damaged: ${found}`)
  } finally {
    copy.close()
  }
}
