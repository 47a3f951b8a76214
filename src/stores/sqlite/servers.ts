/**
 * Server lock: tells whether other servers on this machine use a ledger. Each holds a shared lock on a file next to the ledger
 * while it runs; the kernel releases the lock of a killed process.
 */
import { closeSync, existsSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { sleep } from '../../async.ts'
import { BUSY, type Connection, hasCode, translatingErrors } from './connection.ts'

export type ServerLock = ReturnType<typeof openServerLock>

const RETRY_MS = 10

/** `file`: created if missing, never written to. `timeoutMs`: how long to wait for a server that is just starting. */
export function openServerLock(file: string, timeoutMs: number) {
  let connection: Connection | undefined

  /** Uses SQLite's file locks (https://www.sqlite.org/lockingv3.html), as Node has no API for locks. `false` if taken. */
  function tryLock(...statements: string[]): boolean {
    return translatingErrors(() => {
      try {
        // Not `exec`, whose errors have no result code on Deno.
        for (const sql of statements) connection!.prepare(sql).run()
        return true
      } catch (error) {
        if (connection!.isTransaction) connection!.exec('rollback')
        if (hasCode(error, BUSY)) return false
        throw error
      }
    })
  }

  /** Runs `work` while no server can join. `false`, without running it, if a server is running. */
  async function whileAlone(work: () => Promise<void>): Promise<boolean> {
    // Only if it is missing: closing a file releases all locks that this process has on it.
    if (!existsSync(file)) translatingErrors(() => closeSync(openSync(file, 'a', 0o600)))
    connection ??= translatingErrors(() => new DatabaseSync(file, { timeout: 0 }))
    if (!tryLock('begin exclusive')) return false
    try {
      await work()
    } finally {
      connection.exec('rollback')
    }
    return true
  }

  return {
    whileAlone,

    /** Acquires the shared lock. Runs `ifFirst` beforehand, while no other server can join, if none is running. */
    async join(ifFirst: () => Promise<void>): Promise<void> {
      await whileAlone(ifFirst)
      const deadline = performance.now() + timeoutMs
      while (!tryLock('begin', 'select count(*) from sqlite_schema')) {
        if (performance.now() > deadline)
          throw new Error(`${file} is locked by another server that is starting`)
        await sleep(RETRY_MS)
      }
    },

    leave(): void {
      connection?.close()
      connection = undefined
    },
  }
}
