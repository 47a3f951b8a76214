/** The ledger of a folder, broken under the server that has it open. */
import { join } from 'node:path'
import Database from 'better-sqlite3'

/** Every statement of every process meets a schema that points nowhere (SQLITE_CORRUPT). */
export async function breakLedger(dataDir: string): Promise<void> {
  const ledger = new Database(join(dataDir, 'ledger.sqlite'), { fileMustExist: true })
  ledger.unsafeMode()
  const version = ledger.pragma('schema_version', { simple: true }) as number
  ledger.pragma('writable_schema = on')
  ledger.exec("UPDATE sqlite_schema SET rootpage = 99999999 WHERE type = 'table'")
  ledger.pragma(`schema_version = ${version + 1}`)
  ledger.close()
}
