/** Monitors of what a process uses: disk, file descriptors, memory. Their timers keep no process alive. */
import { close, open } from 'node:fs'
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

function every(ms: number, check: () => Promise<void> | void): Monitor {
  const { start, stop } = createIntervalJob(check, ms, () => {}, { isFirstDone: true, keepsAlive: false })
  start()
  return { stop }
}

/** Free space of a disk, in bytes and inodes, read at an interval: an upload that asks for it does not wait for the disk. */
export interface DiskMonitor extends Monitor {
  /** Unit: bytes. `null` as long as it is not known. */
  freeBytes(): number | null
  /** Share of bytes or of inodes in use, whichever is more: 0 to 1. `null` as long as it is not known. */
  used(): number | null
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
  return { freeBytes: () => free, used: () => used, ...every(DISK_MS, read) }
}

const DESCRIPTORS_MS = 1000
const LOGGED_EVERY_MS = 60_000

/**
 * Detects that no file descriptor is left, by opening a file once a second: libuv then closes new connections unanswered
 * and reports nothing. `onExhausted` is called for each check that found none. Logged at most once a minute.
 */
export function openDescriptorMonitor(log: Log, onExhausted: () => void): Monitor {
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

  return every(DESCRIPTORS_MS, check)
}

const MEMORY_MS = 500

/** The time between two collections, unless much garbage has come together. Unit: milliseconds. */
const COLLECTED_EVERY_MS = 5000

/** Part of the time that the event loop may be busy while the process counts as idle. */
const IDLE_UTILIZATION = 0.1

/**
 * Growth of the process that is worth a collection. At rest it blocks the event loop for some 20 ms, a thorough one in a busy process
 * for some 60. Unit: bytes.
 */
const GROWTH_BYTES = { atRest: 16 * 1024 * 1024, busy: 40 * 1024 * 1024 }

/**
 * Growth of what V8 counts that is worth a collection at once: a flood of connections leaves tens of megabytes of garbage a second,
 * and V8 lets them come together. Unit: bytes.
 */
const GARBAGE_BYTES = 32 * 1024 * 1024

/** Blocks kept for uploads that are worth a collection at rest: 32 MB after a wave, none after one picture. Unit: bytes. */
const KEPT_BYTES_AT_REST = 4 * 1024 * 1024

type Collect = (options: { type: 'major'; execution: 'sync'; flavor: 'regular' | 'last-resort' }) => void

/**
 * V8's `gc`, or null where the runtime has none (Bun). A new context has it while the flag is set. With `--expose-gc` on the command
 * line Node starts a fifth slower: V8 takes no built-in code that was compiled under other flags.
 */
function collector(): Collect | null {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext(`typeof gc === 'function' ? gc : null`) as Collect | null
  setFlagsFromString('--no-expose-gc')
  return gc
}

/**
 * Gives the system the free pages of glibc's heap, also those between what is in use (malloc_trim(3)); with another C library it
 * does nothing. SQLite calls a function of a shared library by its name, which Node has no way to. It passes three pointers: the
 * first counts as the bytes to be kept at the heap's end, the others are ignored. 1, for memory given back, is an error to SQLite.
 */
function trimHeap(): void {
  try {
    using database = new DatabaseSync(':memory:', { allowExtension: true })
    database.loadExtension('libc.so.6', 'malloc_trim')
  } catch {
    // Another C library, or the error that its answer 1 is taken for.
  }
}

/**
 * Collects garbage when much of it may have come together, when the process has grown, and a little while it `isAtRest` and nobody
 * waits. Buffers of bodies lie outside V8's heap, and V8 collects garbage when something is allocated: an idle process would keep
 * them for hours (docs/decisions/036). What they leave in glibc's heap goes back half a second later, which takes up to 10 ms.
 *
 * A busy process that has grown is collected thoroughly, which also throws away what compiled code relies on. At rest that would
 * make the views after each pause a quarter dearer.
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
    // What requests held at the last collection is garbage, or kept for the next ones, once they have ended.
    const isMuchLeft = isIdle && (!wasIdle || keptBlockBytes() >= KEPT_BYTES_AT_REST)
    const isDue = (hasGrown || isMuchLeft) && performance.now() - collectedAt >= COLLECTED_EVERY_MS
    if (!isDue && usedBytes() - usedAfter < GARBAGE_BYTES) return
    dropKeptBlocks()
    gc({ type: 'major', execution: 'sync', flavor: isDue && !isIdle ? 'last-resort' : 'regular' })
    usedAfter = usedBytes()
    wasIdle = isIdle
    // Not now: V8 frees buffers on another thread.
    isTrimDue = true
    // What a flood left is no new baseline: the process would grow with each flood.
    if (!isDue) return
    minResident = resident()
    collectedAt = performance.now()
  }

  return every(MEMORY_MS, check)
}

function usedBytes(): number {
  const { used_heap_size: heap, external_memory: external } = getHeapStatistics()
  return heap + external
}
