/**
 * Room on the disk that is kept for what the operator and owners of images do. Files take it up until the disk is full;
 * then they are removed one by one, and uploads are refused until there is room to make them again.
 */
import { randomFillSync } from 'node:crypto'
import { existsSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Ledger, LedgerFull } from '../ledger.ts'
import { REMEDY } from './connection.ts'

export type Reserve = ReturnType<typeof openReserve>

/**
 * Released one at a time: whatever fills the disk goes on, and takes what is given and not used. They hold inodes too:
 * SQLite needs two for its log when nobody has it open.
 */
const FILES = 8
const FILE_BYTES = 1024 * 1024

/** The reserve is made only where this much stays free beside it: else it would come and go. */
const MIN_BESIDE_BYTES = FILES * FILE_BYTES

/** SQLite opens a log of 32 KiB beside the file, and writes to it a page at a time. */
const NEARLY_FULL_BYTES = 256 * 1024

/** How long an existence check is believed. Every upload asks. */
const CHECK_MS = 1000

/** `file`: of the ledger. The reserve lies beside it. */
export function openReserve(file: string) {
  const files = Array.from({ length: FILES }, (_, number) => `${file}-reserve-${number}`)
  let isKept = false
  let checkedAt = -Infinity

  function make(): boolean {
    const missing = files.filter((path) => !existsSync(path))
    const { bavail, bsize } = statfsSync(dirname(file))
    if (bavail * bsize < missing.length * FILE_BYTES + MIN_BESIDE_BYTES) return false
    for (const path of missing) {
      try {
        // Random, so that a file system that compresses gives it room all the same.
        writeFileSync(path, randomFillSync(new Uint8Array(FILE_BYTES)), { mode: 0o600 })
      } catch {
        rmSync(path, { force: true })
        return false
      }
    }
    return true
  }

  return {
    /** Gives a piece of the room to the ledger. `false` if nothing is left. */
    release(): boolean {
      const piece = files.findLast((path) => existsSync(path))
      if (piece === undefined) return false
      rmSync(piece, { force: true })
      isKept = false
      checkedAt = performance.now()
      return true
    },
    /** Makes what is missing if there is room. `false` if the reserve is not whole. */
    keep(): boolean {
      if (performance.now() - checkedAt < CHECK_MS) return isKept
      checkedAt = performance.now()
      // The last one is released first.
      isKept = existsSync(files.at(-1)!) || make()
      return isKept
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

/** They may use the reserve: the operator's acts and what they lead to, deletions, and logins at the operator's pages. */
const ENTITLED = [
  'recordRemoval',
  'recordHold',
  'recordRelease',
  'recordKeep',
  'recordHeldGone',
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
] as const satisfies readonly (keyof Ledger)[]

/** A ledger whose operator can act on a full disk. Uploads are refused (`LedgerFull`) while the reserve is not there. */
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
      if (!reserve.keep()) throw new LedgerFull(REMEDY)
      return ledger.reserveUpload(...args)
    },
  }
}
