/** Monitors of what a process uses: disk, file descriptors, memory. Their timers keep no process alive. */
import { close, open } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { createIntervalJob } from '../async.ts'
import type { Log } from '../http/log.ts'
import { dropKeptBlocks } from '../stores/drafts/blocks.ts'

/** Free space of a disk, in bytes and inodes, read at an interval: an upload that asks for it does not wait for the disk. */
export interface DiskMonitor {
  /** Unit: bytes. `null` as long as it is not known. */
  freeBytes(): number | null
  /** Share of bytes or of inodes in use, whichever is more: 0 to 1. `null` as long as it is not known. */
  used(): number | null
  stop(): Promise<void>
}

const DISK_MS = 500

export async function openDiskMonitor(folder: string): Promise<DiskMonitor> {
  let free: number | null = null
  let used: number | null = null

  async function read(): Promise<void> {
    try {
      const { bavail, bfree, blocks, bsize, files, ffree } = await statfs(folder)
      free = bavail * bsize
      // As df counts it: what is kept for root is nobody's.
      const usedBytes = 1 - bavail / Math.max(1, blocks - bfree + bavail)
      // File systems that make inodes as they need them say 0.
      const usedInodes = files > 0 ? 1 - ffree / files : 0
      used = Math.max(usedBytes, usedInodes)
    } catch {
      // A full disk is then reported by the store.
      free = null
      used = null
    }
  }

  await read()
  const job = createIntervalJob(read, DISK_MS, () => {}, { isFirstDone: true, keepsAlive: false })
  job.start()
  return { freeBytes: () => free, used: () => used, stop: job.stop }
}

const DESCRIPTORS_MS = 1000
const LOGGED_EVERY_MS = 60_000

/**
 * Detects that no file descriptor is left, by opening a file once a second: libuv then closes new connections unanswered
 * and reports nothing. `onExhausted` is called for each check that found none. Logged at most once a minute.
 */
export function openDescriptorMonitor(log: Log, onExhausted: () => void): { stop(): Promise<void> } {
  let loggedAt = -Infinity

  function check(): void {
    open('/dev/null', (err, descriptor) => {
      if (err === null) return close(descriptor)
      if (err.code !== 'EMFILE' && err.code !== 'ENFILE') return
      onExhausted()
      if (performance.now() - loggedAt < LOGGED_EVERY_MS) return
      loggedAt = performance.now()
      log.error({ err }, 'no file descriptor is left: connections are closed and files not opened')
    })
  }

  const job = createIntervalJob(check, DESCRIPTORS_MS, () => {}, { isFirstDone: true, keepsAlive: false })
  job.start()
  return { stop: job.stop }
}

const MEMORY_MS = 2000

/** The time between two collections at rest. Unit: milliseconds. */
const COLLECTED_EVERY_MS = 10_000

/** Growth that is worth a collection at rest, which blocks the event loop for some 30 ms. Unit: bytes. */
const WORTH_BYTES = 16 * 1024 * 1024

/** Growth that is worth one at any time: a flood of connections leaves 100 MB of garbage in 10 s. Unit: bytes. */
const MUCH_BYTES = 48 * 1024 * 1024

/** There with `--expose-gc`, which `bin/serve.mjs` sets. */
type Collect = (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void

/**
 * Collects garbage if the process has grown since it was smallest: when `isAtRest`, or soon if it has grown much. Buffers of
 * bodies lie outside V8's heap, and V8 collects garbage when something is allocated: an idle process would keep them for
 * hours (docs/decisions/068). Does nothing without `--expose-gc`.
 */
export function openMemoryMonitor(isAtRest: () => boolean): { stop(): Promise<void> } {
  const { gc: collect } = globalThis as { gc?: Collect }
  const resident = process.memoryUsage.rss
  let least = resident()
  let collectedAt = performance.now()
  let wasAtRest = true

  function check(): void {
    const now = resident()
    least = Math.min(least, now)
    const isDue = performance.now() - collectedAt >= COLLECTED_EVERY_MS && isAtRest()
    // What requests held at the last collection is garbage once they have ended.
    const isWorth = now - least >= (isDue ? WORTH_BYTES : MUCH_BYTES) || (isDue && !wasAtRest)
    if (collect === undefined || !isWorth) return
    dropKeptBlocks()
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
    // The remaining memory is in use: the new baseline.
    least = resident()
    collectedAt = performance.now()
    wasAtRest = isDue
  }

  const job = createIntervalJob(check, MEMORY_MS, () => {}, { isFirstDone: true, keepsAlive: false })
  job.start()
  return { stop: job.stop }
}
