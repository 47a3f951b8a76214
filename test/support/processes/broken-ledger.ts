/** Breaks the SQLite ledger of a running server. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** Makes every statement of every process fail with SQLITE_CORRUPT, by a schema that points nowhere. */
export async function breakLedger(dataDir: string): Promise<void> {
  const ledger = new DatabaseSync(join(dataDir, 'ledger.sqlite'), { defensive: false })
  const version = ledger.prepare('pragma schema_version').get()!.schema_version as number
  ledger.exec('pragma writable_schema = on')
  ledger.exec("UPDATE sqlite_schema SET rootpage = 99999999 WHERE type = 'table'")
  ledger.exec(`pragma schema_version = ${version + 1}`)
  ledger.close()
}
