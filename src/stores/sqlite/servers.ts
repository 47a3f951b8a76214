/**
 * Whether other servers are on a ledger of this machine. Each holds a shared lock on a file beside it for as long as it
 * runs; the kernel takes it back from one that is killed.
 */
import { closeSync, existsSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { sleep } from '../../async.ts'
import { BUSY, type Connection, hasCode, passing } from './connection.ts'

export type Servers = ReturnType<typeof serversOn>

const PAUSE_MS = 10

/** `file`: made if it is not there, and never written. `timeoutMs`: how long to wait for one that joins just now. */
export function serversOn(file: string, timeoutMs: number) {
  let connection: Connection | undefined

  /** SQLite's own locks: the one kind that its library takes for us (https://www.sqlite.org/lockingv3.html). */
  function locks(sql: string): boolean {
    return passing(() => {
      try {
        connection!.exec(sql)
        return true
      } catch (error) {
        if (connection!.isTransaction) connection!.exec('rollback')
        if (hasCode(error, BUSY)) return false
        throw error
      }
    })
  }

  /** Runs `work` while nobody can join. `false`, and nothing ran, if a server is there. */
  async function whileAlone(work: () => Promise<void>): Promise<boolean> {
    // To close a file gives back all locks that this process has on it.
    if (!existsSync(file)) passing(() => closeSync(openSync(file, 'a', 0o600)))
    connection ??= passing(() => new DatabaseSync(file, { timeout: 0 }))
    if (!locks('begin exclusive')) return false
    try {
      await work()
    } finally {
      connection.exec('rollback')
    }
    return true
  }

  return {
    whileAlone,

    /** Runs `ifFirst` before, while nobody else can join, if no server is there. */
    async join(ifFirst: () => Promise<void>): Promise<void> {
      await whileAlone(ifFirst)
      const deadline = performance.now() + timeoutMs
      while (!locks('begin; select count(*) from sqlite_schema')) {
        if (performance.now() > deadline) throw new Error(`${file} is locked by another server that starts`)
        await sleep(PAUSE_MS)
      }
    },

    leave(): void {
      connection?.close()
      connection = undefined
    },
  }
}
