/** Files on their way, kept until they are sent: a page that is loaded again in the middle can offer them. */
import { forgetFile, type Group, keepFile, keptGroups } from './kept-files.ts'

/** A page that keeps files holds a lock of its group's name. What no page holds was left behind. */
const PREFIX = 'unsent-'

/** A page that is loaded again may hold its lock for some seconds more, while a worker of its ends. */
const CLOSING_MS = 10_000

/** Keeping is a copy on the disk: not of everything. Unit: bytes. */
const MOST_BYTES = 100 * 1024 * 1024

export interface Unsent {
  keep(number: number, file: File): void
  /** It was sent, or is not to be sent. */
  release(number: number): void
}

export function createUnsent(): Unsent {
  const group: Group = `${PREFIX}${crypto.randomUUID()}`
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
  // A worker of this page may outlive it by many seconds, and a lock with it.
  addEventListener('pagehide', () => {
    unlock?.()
    unlock = null
  })
  addEventListener('pageshow', ({ persisted }) => {
    // Another page may have offered them meanwhile.
    if (persisted && sizes.size > 0) location.reload()
  })
  return {
    keep(number, file) {
      if (!isAble || sizes.has(number) || bytes + file.size > MOST_BYTES) return
      if (unlock === null) lock()
      bytes += file.size
      sizes.set(number, file.size)
      then(number, async () => sizes.has(number) && (await keepFile(group, `${number}`, file)))
    },
    release(number) {
      const size = sizes.get(number)
      if (size === undefined) return
      sizes.delete(number)
      bytes -= size
      then(number, () => forgetFile(group, `${number}`))
    },
  }
}

/** Groups of pages that are closed. */
export async function unsentGroups(): Promise<Group[]> {
  const groups = (await keptGroups()).filter((group) => group.startsWith(PREFIX))
  const left = await Promise.all(groups.map((group) => isLeft(group).catch(() => false)))
  return groups.filter((_, nth) => left[nth])
}

/** Whether no page holds it. Throws where the browser denies locks. */
async function isLeft(group: Group): Promise<boolean> {
  try {
    return await navigator.locks.request(group, { signal: AbortSignal.timeout(CLOSING_MS) }, () => true)
  } catch {
    // On a device that stood still for so long the time ran out before the browser's answer came.
    const { held } = await navigator.locks.query()
    return !held?.some(({ name }) => name === group)
  }
}
