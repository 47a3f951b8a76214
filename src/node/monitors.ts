/** Monitors of a process's resources: disk, file descriptors, memory. Their timers keep no process alive. */
import { close, open, type StatsFs } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { performance } from 'node:perf_hooks'
import { DatabaseSync } from 'node:sqlite'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createIntervalJob } from '../async.ts'
import type { Log } from '../http/log.ts'
import { dropKeptBlocks, keptBlockBytes } from '../stores/drafts/blocks.ts'

interface Monitor {
  stop(): Promise<void>
}

function startPolling(ms: number, check: () => Promise<void> | void): Monitor {
  const { start, stop } = createIntervalJob(check, ms, () => {}, { isFirstDone: true, keepsAlive: false })
  start()
  return { stop }
}

/** Free space, in bytes and inodes. Polled, so that uploads never wait for the disk to check it. */
export interface DiskMonitor extends Monitor {
  /** Unit: bytes. `null` while unknown. */
  freeBytes(): number | null
  /** Share of bytes or of inodes in use, whichever is larger: 0 to 1. `null` while unknown. */
  used(): number | null
}

const DISK_MS = 500

/** Of several disks, the fullest counts. */
export async function openDiskMonitor(...folders: string[]): Promise<DiskMonitor> {
  let free: number | null = null
  let used: number | null = null

  async function read(): Promise<void> {
    try {
      const disks = await Promise.all(folders.map((folder) => statfs(folder)))
      free = Math.min(...disks.map(({ bavail, bsize }) => bavail * bsize))
      used = Math.max(...disks.map(usedShare))
    } catch {
      // The store reports a full disk instead.
      free = null
      used = null
    }
  }

  await read()
  return { freeBytes: () => free, used: () => used, ...startPolling(DISK_MS, read) }
}

function usedShare({ bavail, bfree, blocks, files, ffree }: StatsFs): number {
  // As df counts it: blocks reserved for root are unavailable.
  const bytes = 1 - bavail / Math.max(1, blocks - bfree + bavail)
  // File systems that allocate inodes dynamically report 0.
  const inodes = files > 0 ? 1 - ffree / files : 0
  return Math.max(bytes, inodes)
}

const DESCRIPTORS_MS = 1000
const LOG_INTERVAL_MS = 60_000

/**
 * Detects file descriptor exhaustion, by opening a file every second: libuv then closes new connections unanswered
 * without reporting an error. Calls `onExhausted` for each failed check. Logs at most once a minute.
 */
export function openDescriptorMonitor(log: Log, onExhausted: () => void): Monitor {
  let loggedAt = -Infinity

  function check(): void {
    open('/dev/null', (err, descriptor) => {
      if (err === null) return close(descriptor)
      if (err.code !== 'EMFILE' && err.code !== 'ENFILE') return
      onExhausted()
      if (performance.now() - loggedAt < LOG_INTERVAL_MS) return
      loggedAt = performance.now()
      log.error({ err }, 'no file descriptor is left: connections are closed and files cannot be opened')
    })
  }

  return startPolling(DESCRIPTORS_MS, check)
}

const MEMORY_MS = 500

/** Minimum time between two collections, unless much garbage has accumulated. Unit: milliseconds. */
const COLLECTION_INTERVAL_MS = 5000

/** Share of time that the event loop may be busy while the process still counts as idle. */
const IDLE_UTILIZATION = 0.1

/**
 * Growth of the process that triggers a collection. At rest a collection blocks the event loop for some 20 ms; a thorough
 * one in a busy process takes some 60. Unit: bytes.
 */
const GROWTH_BYTES = { atRest: 16 * 1024 * 1024, busy: 40 * 1024 * 1024 }

/**
 * Growth of V8's own memory counters that triggers an immediate collection: a flood of connections produces tens of
 * megabytes of garbage a second, which V8 lets accumulate. Unit: bytes.
 */
const GARBAGE_BYTES = 32 * 1024 * 1024

/** Reusable upload blocks that trigger a collection at rest: 32 MB after a wave, none after one image. Unit: bytes. */
const KEPT_BYTES_AT_REST = 4 * 1024 * 1024

type Collect = (options: { type: 'major'; execution: 'sync'; flavor: 'regular' | 'last-resort' }) => void

/**
 * V8's `gc`, or `null` where the runtime has none (Bun). A context created while the flag is set has it. With `--expose-gc`
 * on the command line Node would start a fifth slower: V8 rejects built-in code compiled under other flags.
 */
function collector(): Collect | null {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext(`typeof gc === 'function' ? gc : null`) as Collect | null
  setFlagsFromString('--no-expose-gc')
  return gc
}

/**
 * Returns free pages of glibc's heap to the system, including those between blocks in use (malloc_trim(3)). A no-op with
 * another C library. Node can't call a function of a shared library by name, but SQLite can. SQLite passes three pointers:
 * the first is taken as the number of bytes to keep at the heap's end, the others are ignored. SQLite reads the result 1,
 * memory released, as an error.
 */
function trimHeap(): void {
  try {
    using database = new DatabaseSync(':memory:', { allowExtension: true })
    database.loadExtension('libc.so.6', 'malloc_trim')
  } catch {
    // Another C library, or the result 1 read as an error.
  }
}

/**
 * Collects garbage when much of it may have accumulated, when the process has grown, and shortly after it comes to rest
 * (`isAtRest`). Body buffers lie outside V8's heap, and V8 only collects when something is allocated: an idle process would
 * keep them for hours (docs/decisions/036). The free pages left in glibc's heap are released half a second later, which
 * takes up to 10 ms.
 *
 * A busy process that has grown gets a thorough collection, which also discards what optimized code relies on. At rest that
 * would make the views after each pause a quarter slower.
 */
export function openMemoryMonitor(isAtRest: () => boolean): Monitor {
  const gc = collector()
  if (gc === null) return { stop: async () => {} }
  const resident = process.memoryUsage.rss
  let minResident = resident()
  let usedAfter = usedBytes()
  let collectedAt = performance.now()
  let wasIdle = true
  let isTrimDue = false
  let loop = performance.eventLoopUtilization()

  const check = (): void => {
    const { utilization } = performance.eventLoopUtilization(loop)
    loop = performance.eventLoopUtilization()
    const isIdle = utilization < IDLE_UTILIZATION && isAtRest()
    if (isTrimDue) {
      isTrimDue = false
      trimHeap()
    }
    const now = resident()
    minResident = Math.min(minResident, now)
    const hasGrown = now - minResident >= (isIdle ? GROWTH_BYTES.atRest : GROWTH_BYTES.busy)
    // Once requests have ended, whatever they held at the last collection is garbage, or kept for reuse.
    const hasLeftovers = isIdle && (!wasIdle || keptBlockBytes() >= KEPT_BYTES_AT_REST)
    const isDue = (hasGrown || hasLeftovers) && performance.now() - collectedAt >= COLLECTION_INTERVAL_MS
    if (!isDue && usedBytes() - usedAfter < GARBAGE_BYTES) return
    dropKeptBlocks()
    gc({ type: 'major', execution: 'sync', flavor: isDue && !isIdle ? 'last-resort' : 'regular' })
    usedAfter = usedBytes()
    wasIdle = isIdle
    // Deferred: V8 frees buffers on another thread.
    isTrimDue = true
    // Memory left by a flood must not become the new baseline, or the process would grow with each flood.
    if (!isDue) return
    minResident = resident()
    collectedAt = performance.now()
  }

  return startPolling(MEMORY_MS, check)
}

function usedBytes(): number {
  const { used_heap_size: heap, external_memory: external } = getHeapStatistics()
  return heap + external
}
