/**
 * Disk space reserved for acts of the operator and of image owners. Reserve files occupy it; when the disk is full they are
 * removed one by one, and uploads are refused until there is space to recreate them.
 */
import { randomFillSync } from 'node:crypto'
import { existsSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Ledger, LedgerFull } from '../ledger.ts'
import { REMEDY, translatingErrors } from './connection.ts'

export type Reserve = ReturnType<typeof openReserve>

/**
 * Released one at a time: whatever fills the disk continues, and takes released space that is not used immediately. The files
 * also reserve inodes: SQLite needs two for its log when no process has it open.
 */
const FILES = 8
const FILE_BYTES = 1024 * 1024

/** Free space required in addition to the reserve when creating it: prevents flapping. */
const MIN_FREE_BYTES = FILES * FILE_BYTES

/** SQLite creates 32 KiB of shared memory next to the file, and writes the log page by page. */
const NEARLY_FULL_BYTES = 256 * 1024

/** How long the result of an existence check is cached. Every upload checks. */
const CHECK_MS = 1000

/** `file`: the ledger's. The reserve files are next to it. */
export function openReserve(file: string) {
  const files = Array.from({ length: FILES }, (_, number) => `${file}-reserve-${number}`)
  let isComplete = false
  let checkedAt = -Infinity

  function createMissing(): boolean {
    const missing = files.filter((path) => !existsSync(path))
    const { bavail, bsize } = statfsSync(dirname(file))
    if (bavail * bsize < missing.length * FILE_BYTES + MIN_FREE_BYTES) return false
    for (const path of missing) {
      try {
        // Random bytes, so that they occupy their full size on a compressing file system.
        writeFileSync(path, randomFillSync(new Uint8Array(FILE_BYTES)), { mode: 0o600 })
      } catch {
        rmSync(path, { force: true })
        return false
      }
    }
    return true
  }

  return {
    /** Frees part of the reserve for the ledger. `false` if nothing is left. */
    release(): boolean {
      const last = files.findLast((path) => existsSync(path))
      if (last === undefined) return false
      rmSync(last, { force: true })
      isComplete = false
      checkedAt = performance.now()
      return true
    },
    /** Creates missing files if there is space. `false` if the reserve is incomplete. */
    ensure(): boolean {
      if (performance.now() - checkedAt < CHECK_MS) return isComplete
      checkedAt = performance.now()
      // The last file is the first to be released.
      isComplete = existsSync(files.at(-1)!) || createMissing()
      return isComplete
    },
  }
}

export function isDiskFull(folder: string): boolean {
  try {
    const { bavail, bsize, files, ffree } = statfsSync(folder)
    return bavail * bsize < NEARLY_FULL_BYTES || (files > 0 && ffree === 0)
  } catch {
    return false
  }
}

/** Methods that may use the reserve: the operator's acts and their consequences, deletions, and admin logins. */
const ENTITLED = [
  'recordRemoval',
  'recordHold',
  'recordRelease',
  'recordKeep',
  'recordHeldDeleted',
  'recordHeldDigests',
  'block',
  'unblock',
  'claimMove',
  'claimMoves',
  'finishMove',
  'deferMove',
  'addDecisions',
  'undoDecisions',
  'claimDecisions',
  'finishDecision',
  'deferDecision',
  'changeSettings',
  'writeFacts',
  'putToken',
  'takeToken',
  'renewToken',
  'recordDeletion',
  'enqueuePurge',
  'claimPurges',
  'settlePurges',
  'deferPurges',
  'claimTombstones',
  'settleTombstones',
  'deferTombstones',
] as const satisfies readonly (keyof Ledger)[]

/** Lets the operator act on a full disk. Refuses uploads (`LedgerFull`) while the reserve is incomplete. */
export function withReserve(ledger: Ledger, reserve: Reserve): Ledger {
  const entitled = ENTITLED.map((name) => {
    const write = ledger[name] as (...args: unknown[]) => Promise<unknown>
    const retried = (...args: unknown[]): Promise<unknown> =>
      write(...args).catch((error) => {
        // A write that threw has changed nothing.
        if (error instanceof LedgerFull && reserve.release()) return retried(...args)
        throw error
      })
    return [name, retried]
  })
  return {
    ...ledger,
    ...Object.fromEntries(entitled),
    async reserveUpload(...args) {
      if (!translatingErrors(() => reserve.ensure())) throw new LedgerFull(REMEDY)
      return ledger.reserveUpload(...args)
    },
  }
}
