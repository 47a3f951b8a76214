/** Snapshots of a ledger in SQLite while servers keep writing to it, and the export of their rows. */
import { rm } from 'node:fs/promises'
import { backup, DatabaseSync } from 'node:sqlite'
import { pragma } from './connection.ts'

/** Writes a consistent copy to `target`: copying the file would miss its log (https://www.sqlite.org/backup.html). */
export async function snapshotSqlite(file: string, target: string): Promise<void> {
  const connection = new DatabaseSync(file, { readOnly: true, timeout: 5000 })
  try {
    // A read transaction: without it, the copy restarts at every write of a server, and never ends on a busy ledger. The log
    // grows meanwhile.
    connection.exec('begin')
    connection.prepare('select 1 from sqlite_schema').get()
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

/** The rows of a snapshot, in the format that `postgres/snapshot.ts` restores. */
export function* linesOfSnapshot(file: string): Generator<string> {
  const connection = new DatabaseSync(file, { readOnly: true })
  try {
    const tables = connection.prepare(
      "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'",
    )
    for (const { name: table } of tables.all()) {
      for (const row of connection.prepare(`select * from "${table}"`).iterate()) {
        yield JSON.stringify({ table, row })
      }
    }
  } finally {
    connection.close()
  }
}
