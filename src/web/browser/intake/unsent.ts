/** Files on their way, kept until they are sent: a page that is loaded again in the middle can offer them. */
import { forgetFile, type Group, keepFile, keptGroups } from './kept-files.ts'

/** A page that keeps files holds a lock of its group's name. What no page holds was left behind. */
const PREFIX = 'unsent-'

/** How long a group that is held is waited for: the page that holds it may be about to close. */
const CLOSING_MS = 60_000

/** How long other free groups are waited for after the first: the browser answers one by one. */
const GATHERING_MS = 500

/** The group of this page, once it keeps files. */
let own: Group | null = null

/** Keeping is a copy on the disk: not of everything. Unit: bytes. */
const MAX_BYTES = 100 * 1024 * 1024

export type Unsent = ReturnType<typeof createUnsent>

export function createUnsent() {
  const group: Group = `${PREFIX}${crypto.randomUUID()}`
  own = group
  const isAble = 'caches' in globalThis && 'locks' in navigator
  const sizes = new Map<number, number>()
  let bytes = 0
  /** Ends its hold of the lock. `null`: it does not hold it. */
  let unlock: (() => void) | null = null
  /** What is done to a file's copy, in order: a release never overtakes its keeping, and waits for no other file. */
  const work = new Map<number, Promise<unknown>>()
  const then = (number: number, next: () => Promise<unknown>) => {
    work.set(
      number,
      (work.get(number) ?? Promise.resolve()).then(next).catch(() => {}),
    )
  }
  function lock(): void {
    const left = new Promise<void>((resolve) => {
      unlock = resolve
    })
    void navigator.locks.request(group, () => left)
  }
  // A page that holds a lock is not kept for the way back (back/forward cache).
  addEventListener('pagehide', () => {
    unlock?.()
    unlock = null
  })
  addEventListener('pageshow', ({ persisted }) => {
    // Another page may have offered them meanwhile.
    if (persisted && sizes.size > 0) location.reload()
  })
  return {
    keep(number: number, file: File): void {
      if (!isAble || sizes.has(number) || bytes + file.size > MAX_BYTES) return
      if (unlock === null) lock()
      bytes += file.size
      sizes.set(number, file.size)
      then(number, async () => sizes.has(number) && (await keepFile(group, `${number}`, file)))
    },
    /** It was sent, or is not to be sent. */
    release(number: number): void {
      const size = sizes.get(number)
      if (size === undefined) return
      sizes.delete(number)
      bytes -= size
      then(number, () => forgetFile(group, `${number}`))
    },
  }
}

/** Groups of pages that are closed. Where all are held, the first that is let go is waited for. */
export async function unsentGroups(): Promise<Group[]> {
  const groups = (await keptGroups()).filter((group) => group.startsWith(PREFIX) && group !== own)
  const left: Group[] = []
  const waiting = new AbortController()
  const end = () => waiting.abort()
  const timer = setTimeout(end, CLOSING_MS)
  const take = (group: Group) => {
    left.push(group)
    setTimeout(end, GATHERING_MS)
  }
  const { signal } = waiting
  await Promise.allSettled(
    groups.map((group) => navigator.locks.request(group, { signal }, () => take(group))),
  )
  clearTimeout(timer)
  return left
}
