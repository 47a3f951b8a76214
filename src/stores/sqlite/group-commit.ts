/**
 * Group commit: one asynchronous flush for many writers. Changes that arrive during a flush share the next transaction and its
 * flush. Each change is still atomic, with its own outcome.
 */
import { BUSY, type Connection, hasCode } from './connection.ts'

/** Maximum changes per transaction: limits how long the event loop and other processes wait. */
const MAX_GROUP = 1000

/** Delay before retrying to acquire the write lock. */
const RETRY_MS = 2

interface QueuedChange {
  change(): unknown
  isLazy: boolean
  resolve(value: unknown): void
  reject(error: unknown): void
}

export interface GroupCommitOptions {
  /** How long to wait for a lock that another process holds. */
  busyTimeoutMs: number
  /** Throws if changes can't be made now. Called once per transaction. */
  assertUsable: () => void
  /** Flushes what was committed. */
  flushLog: () => Promise<void>
}

/** `connection` must not wait for locks itself, as that would block the event loop. */
export function groupCommit(connection: Connection, options: GroupCommitOptions) {
  const { busyTimeoutMs, assertUsable, flushLog } = options
  const begin = connection.prepare('begin immediate')
  const commit = connection.prepare('commit')
  const savepoint = connection.prepare('savepoint change')
  const release = connection.prepare('release change')
  const undo = connection.prepare('rollback to change')

  let queue: QueuedChange[] = []
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
      // Other SQLite errors are passed to the callers whose changes were undone.
      if (hasCode(error, BUSY) && performance.now() - busySince < busyTimeoutMs) {
        queue = [...group, ...queue]
        scheduled = true
        setTimeout(flush, RETRY_MS)
        return
      }
      busySince = undefined
      rejectAll(group, error)
      return
    }
    busySince = undefined
    try {
      const settlers = group.map(attempt)
      commit.run()
      const isFlushed = group.some(({ isLazy }) => !isLazy)
      flushing = (isFlushed ? flushLog() : Promise.resolve()).then(
        () => finish(settlers),
        (error) => rejectAll(group, error),
      )
    } catch (error) {
      if (connection.isTransaction) connection.exec('rollback')
      rejectAll(group, error)
    }
  }

  /** Returns a function that settles the change's promise, to be called after the flush. Throws if the transaction is lost. */
  function attempt({ change, resolve, reject }: QueuedChange): () => void {
    savepoint.run()
    try {
      const value = change()
      release.run()
      return () => resolve(value)
    } catch (error) {
      // Some errors, such as a full disk, make SQLite roll back everything (https://www.sqlite.org/lang_transaction.html).
      if (!connection.isTransaction) throw error
      undo.run()
      release.run()
      return () => reject(error)
    }
  }

  function rejectAll(group: QueuedChange[], error: unknown): void {
    finish(group.map(({ reject }) => reject.bind(null, error)))
  }

  function finish(settlers: (() => void)[]): void {
    flushing = undefined
    for (const settle of settlers) settle()
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
     * Runs `change`, which is synchronous, in a transaction that other changes may share. Resolves when it is flushed; with
     * `isLazy` when it is committed: a power cut before the next flush undoes it.
     */
    submit: <T>(change: () => T, isLazy = false) =>
      new Promise<T>((resolve, reject) => {
        queue.push({ change, isLazy, resolve: resolve as QueuedChange['resolve'], reject })
        schedule()
      }),

    /** Resolves when nothing is queued or in flight. */
    drain: () =>
      new Promise<void>((resolve) => {
        if (queue.length === 0 && flushing === undefined) resolve()
        else drains.push(resolve)
      }),
  }
}
