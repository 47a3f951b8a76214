/**
 * The write-ahead log of a SQLite file, to be flushed beside SQLite: its own flush would block the event loop. In WAL
 * mode a transaction is durable when the frames up to its commit are on the disk
 * (https://www.sqlite.org/walformat.html, "Recovery"), whoever puts them there.
 */
import { closeSync, fdatasync, openSync } from 'node:fs'

export interface SqliteLog {
  /** Resolves when everything that was committed before the call is on the disk. */
  flush(): Promise<void>
  close(): void
}

/**
 * `file`: the database, open in this process: the log stays the same file as long as one connection is. SQLite locks
 * the database and its shared memory, never the log, so closing this handle drops no lock
 * (https://www.sqlite.org/lockingv3.html, "POSIX advisory locks").
 */
export function openLog(file: string): SqliteLog {
  const descriptor = openSync(`${file}-wal`, 'r+')
  let failure: Error | null = null
  return {
    flush: () =>
      new Promise((resolve, reject) => {
        if (failure !== null) {
          reject(failure)
          return
        }
        fdatasync(descriptor, (error) => {
          // A flush that failed once has lost what it could not write: a second one that succeeds proves nothing.
          failure ??= error
          if (error === null) resolve()
          else reject(error)
        })
      }),
    close: () => closeSync(descriptor),
  }
}
