/**
 * One flush for many writers, off the event loop. Changes that arrive while a flush runs share the next transaction
 * and its flush. Each is still whole on its own, with its own outcome.
 */
import { BUSY, type Connection, hasCode } from './connection.ts'

/** Most changes in one transaction: keeps the loop and other processes from waiting for long. */
const MAX_GROUP = 1000

/** How long to wait before asking for the lock again. */
const RETRY_MS = 2

interface Waiting {
  change(): unknown
  isLazy: boolean
  resolve(value: unknown): void
  reject(error: unknown): void
}

export interface GroupCommitOptions {
  /** How long to wait for a lock that another process holds. */
  busyTimeoutMs: number
  /** Throws if no change must be made now. Asked once for each transaction. */
  assertUsable: () => void
  /** Puts what was committed on the disk. */
  flushLog: () => Promise<void>
}

/** `connection` must not wait for locks itself: it would in a sleep of its own, and the event loop with it. */
export function groupCommit(connection: Connection, options: GroupCommitOptions) {
  const { busyTimeoutMs, assertUsable, flushLog } = options
  const begin = connection.prepare('begin immediate')
  const commit = connection.prepare('commit')
  const savepoint = connection.prepare('savepoint change')
  const release = connection.prepare('release change')
  const undo = connection.prepare('rollback to change')

  let queue: Waiting[] = []
  let scheduled = false
  let flushing: Promise<void> | undefined
  let busySince: number | undefined
  let drains: (() => void)[] = []

  function flush(): void {
    scheduled = false
    const group = queue.splice(0, MAX_GROUP)
    try {
      assertUsable()
      begin.run()
    } catch (error) {
      busySince ??= performance.now()
      // Every other error of SQLite reaches those whose change it undid.
      if (hasCode(error, BUSY) && performance.now() - busySince < busyTimeoutMs) {
        queue = [...group, ...queue]
        scheduled = true
        setTimeout(flush, RETRY_MS)
        return
      }
      busySince = undefined
      refuse(group, error)
      return
    }
    busySince = undefined
    try {
      const answers = group.map(attempt)
      commit.run()
      const isFlushed = group.some(({ isLazy }) => !isLazy)
      flushing = (isFlushed ? flushLog() : Promise.resolve()).then(
        () => finish(answers),
        (error) => refuse(group, error),
      )
    } catch (error) {
      if (connection.isTransaction) connection.exec('rollback')
      refuse(group, error)
    }
  }

  /** The answer to give once the transaction is on the disk. Throws if the whole transaction is lost. */
  function attempt({ change, resolve, reject }: Waiting): () => void {
    savepoint.run()
    try {
      const value = change()
      release.run()
      return () => resolve(value)
    } catch (error) {
      // A full disk, among others, makes SQLite roll back everything (https://www.sqlite.org/lang_transaction.html).
      if (!connection.isTransaction) throw error
      undo.run()
      release.run()
      return () => reject(error)
    }
  }

  function refuse(group: Waiting[], error: unknown): void {
    finish(group.map(({ reject }) => reject.bind(null, error)))
  }

  function finish(answers: (() => void)[]): void {
    flushing = undefined
    for (const answer of answers) answer()
    if (queue.length > 0) schedule()
    else {
      for (const resolve of drains) resolve()
      drains = []
    }
  }

  function schedule(): void {
    if (scheduled || flushing !== undefined) return
    scheduled = true
    setImmediate(flush)
  }

  return {
    /**
     * Runs `change`, which is synchronous, in a transaction that others may share. Resolves when it is on the disk; with
     * `isLazy` when it is committed: a power cut before the next flush undoes it.
     */
    submit: <T>(change: () => T, isLazy = false) =>
      new Promise<T>((resolve, reject) => {
        queue.push({ change, isLazy, resolve: resolve as Waiting['resolve'], reject })
        schedule()
      }),

    /** Resolves when nothing waits any more. */
    drain: () =>
      new Promise<void>((resolve) => {
        if (queue.length === 0 && flushing === undefined) resolve()
        else drains.push(resolve)
      }),
  }
}
