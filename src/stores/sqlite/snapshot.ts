/** A copy of a ledger that servers go on writing to. */
import { rm } from 'node:fs/promises'
import Database from 'better-sqlite3'

/**
 * Writes `target` as it was at one moment: copying the file would lose what is in its log
 * (https://www.sqlite.org/backup.html).
 */
export async function snapshotSqlite(file: string, target: string): Promise<void> {
  const connection = new Database(file, { readonly: true, fileMustExist: true, timeout: 5000 })
  try {
    await connection.backup(target)
  } catch (error) {
    await rm(target, { force: true })
    throw error
  } finally {
    connection.close()
  }
  const copy = new Database(target)
  try {
    // One file, without a log beside it.
    copy.pragma('journal_mode = delete')
    const [found] = copy.pragma('integrity_check') as [{ integrity_check: string }]
    if (found.integrity_check !== 'ok') throw new Error(`the ledger is damaged: ${found.integrity_check}`)
  } finally {
    copy.close()
  }
}
