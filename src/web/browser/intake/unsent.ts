/** Keeps unsent files until they are uploaded, so that a reloaded page can offer them again. */
import { forgetFile, type Group, keepFile, keptGroups } from './kept-files.ts'

/** Prefix of groups. A page holds a Web Lock named after its group; a group without a lock was left behind. */
const PREFIX = 'unsent-'

/** How long to wait for a locked group, because the page that holds it may be closing. Unit: milliseconds. */
const LOCK_TIMEOUT_MS = 60_000

/** How long to wait for more groups after the first, because locks are granted one by one. Unit: milliseconds. */
const COLLECT_MS = 500

/** This page's group, once it keeps files. */
let ownGroup: Group | null = null

/**
 * How long a file waits until it is copied. Most links come sooner, and would come later if the processor were busy copying.
 * Unit: milliseconds.
 */
const COPY_AFTER_MS = 3000

/** Bound for the copies on disk. Unit: bytes. */
const MAX_BYTES = 100 * 1024 * 1024

export type Unsent = ReturnType<typeof createUnsent>

export function createUnsent() {
  const group: Group = `${PREFIX}${crypto.randomUUID()}`
  ownGroup = group
  const isSupported = 'caches' in globalThis && 'locks' in navigator
  const sizes = new Map<number, number>()
  let bytes = 0
  /** Releases the lock. `null` while it isn't held. */
  let unlock: (() => void) | null = null
  /** Pending work per file, so that a file's `keep` and `release` run in order without waiting for other files. */
  const pending = new Map<number, Promise<unknown>>()
  /** Starts the copy of a file, if that has not begun. */
  const copies = new Map<number, () => void>()
  // From then on, a phone may stop the page at any time.
  addEventListener('visibilitychange', () => {
    if (document.hidden) for (const copy of copies.values()) copy()
  })
  const enqueue = (number: number, next: () => Promise<unknown>) => {
    pending.set(
      number,
      (pending.get(number) ?? Promise.resolve()).then(next).catch(() => {}),
    )
  }
  function lock(): void {
    const released = new Promise<void>((resolve) => {
      unlock = resolve
    })
    void navigator.locks.request(group, () => released)
  }
  // Pages that hold a lock are excluded from the back/forward cache.
  addEventListener('pagehide', () => {
    unlock?.()
    unlock = null
  })
  addEventListener('pageshow', ({ persisted }) => {
    // Another tab may have offered the files in the meantime.
    if (persisted && sizes.size > 0) location.reload()
  })
  return {
    keep(number: number, file: File): void {
      if (!isSupported || sizes.has(number) || bytes + file.size > MAX_BYTES) return
      if (unlock === null) lock()
      bytes += file.size
      sizes.set(number, file.size)
      const copy = () => {
        if (copies.delete(number)) enqueue(number, () => keepFile(group, `${number}`, file))
      }
      copies.set(number, copy)
      setTimeout(copy, COPY_AFTER_MS)
    },
    /** Forgets a file that was sent or cancelled. */
    release(number: number): void {
      const size = sizes.get(number)
      if (size === undefined) return
      sizes.delete(number)
      bytes -= size
      if (!copies.delete(number)) enqueue(number, () => forgetFile(group, `${number}`))
    },
  }
}

/** Groups left behind by closed pages. If all are locked, waits for the first to be released. */
export async function unsentGroups(): Promise<Group[]> {
  const candidates = (await keptGroups()).filter((group) => group.startsWith(PREFIX) && group !== ownGroup)
  const groups: Group[] = []
  const controller = new AbortController()
  const stopWaiting = () => controller.abort()
  const timer = setTimeout(stopWaiting, LOCK_TIMEOUT_MS)
  const collect = (group: Group) => {
    groups.push(group)
    setTimeout(stopWaiting, COLLECT_MS)
  }
  const { signal } = controller
  await Promise.allSettled(
    candidates.map((group) => navigator.locks.request(group, { signal }, () => collect(group))),
  )
  clearTimeout(timer)
  return groups
}
