/** Daily limits (UTC) of the whole instance, and the minimum free disk space (docs/decisions/036). */
import { createBackgroundTasks } from '../../async.ts'
import { Refusal } from '../../errors.ts'
import type { NoticeKind } from '../../notify/notifier.ts'
import type { Ledger } from '../../stores/ledger.ts'
import { DAY_MS, utcDayOf } from '../../utc-day.ts'
import type { SettingName, Settings } from '../settings.ts'

export interface Capacity {
  /**
   * Call it before the body is read; `maxBytes`: upper bound of what will be stored. Throws `Refusal`: `capacity-reached` if
   * a cap is known to be reached; `storage-full` if too little disk space is free. Uploads in flight are not counted.
   */
  assertOpen(maxBytes: number): Promise<void>
  /** Call it before an image of `bytes` is stored, to count it. Throws `Refusal('capacity-reached')`. */
  take(bytes: number): Promise<CapacityReservation>
  /** Resolves when all background releases have ended. */
  stop(): Promise<void>
}

export interface CapacityReservation {
  /** Call it if nothing was stored after all. */
  release(): void
}

export type Cap = Extract<SettingName, 'daily-uploads' | 'daily-bytes'>

/** The second cap reached within this many days pauses uploads. */
const WINDOW_DAYS = 7

/** Hysteresis: once the disk ran low, uploads resume at this multiple of the minimum free space. */
const RECOVERY_FACTOR = 1.1

/** Maximum age of a cached counter. Unit: milliseconds. */
const READ_AGAIN_MS = 1000

/**
 * The counters are in the ledger, shared by all processes, which together never exceed a cap. Each process caches readings
 * for up to a second. Throws whatever the ledger throws, besides the refusals that `Capacity` names.
 */
export function createCapacity(parts: {
  ledger: Ledger
  settings: Settings
  now: () => number
  /** Free disk space in bytes. `null` if unknown. */
  freeBytes: () => number | null
  /** Called when a cap is reached, once a day. `isPaused`: it is the second within a week, so uploads are paused. */
  onReached: (cap: Cap, isPaused: boolean) => void
  onFailure: (error: unknown) => void
  /** The day on which each cap was last recorded as reached. May be shared. */
  reportedOn?: Map<string, string>
}): Capacity {
  const { ledger, settings, now, freeBytes, reportedOn = new Map() } = parts
  const today = () => utcDayOf(now())
  const limitOf = (cap: Cap) => settings.current()[cap]
  const readings = { 'daily-uploads': NO_READING, 'daily-bytes': NO_READING }
  const releasing = createBackgroundTasks()
  let isLow = false

  /** The cached reading of a cap's counter. Reset on a new day or when the limit changes. */
  function readingOf(cap: Cap): Reading {
    const [day, limit] = [today(), limitOf(cap)]
    if (readings[cap].day !== day || readings[cap].limit !== limit) {
      readings[cap] = { ...NO_READING, day, limit }
    }
    return readings[cap]
  }

  function remainingOf(cap: Cap): Promise<number> {
    const reading = readingOf(cap)
    if (performance.now() - reading.at >= READ_AGAIN_MS) {
      reading.at = performance.now()
      reading.remaining = ledger.usedCapacity(cap, reading.day).then((used) => reading.limit - used)
      reading.remaining.catch(() => {
        reading.at = Number.NEGATIVE_INFINITY
      })
    }
    return reading.remaining
  }

  async function assertRemaining(cap: Cap, amount: number): Promise<void> {
    if (limitOf(cap) === 0) return
    const remaining = await remainingOf(cap)
    // The announced size is only an upper bound, so the body is read anyway, unless that amount was already refused.
    const { refused } = readingOf(cap)
    if (remaining < 1 || (amount >= refused && remaining < refused)) throw reached(cap)
  }

  function reached(cap: Cap): Refusal {
    report(cap).catch(parts.onFailure)
    return new Refusal(
      'capacity-reached',
      'This server has reached its daily limit for uploads. It accepts uploads again from midnight UTC.',
    )
  }

  /** Records that a cap was reached. The second time within a week pauses uploads, so that the operator takes a look. */
  async function report(cap: Cap): Promise<void> {
    const day = today()
    if (reportedOn.get(cap) === day) return
    reportedOn.set(cap, day)
    const since = utcDayOf(now() - WINDOW_DAYS * DAY_MS)
    const outcome = await ledger
      .recordCapReached(cap, day, since, new Date(now()), {
        raises: 'cap.reached' satisfies NoticeKind,
        pause: {
          reason: `${cap} was reached, the second cap in a week`,
          who: 'pinhole',
          raises: 'uploads.paused' satisfies NoticeKind,
        },
      })
      .catch((error) => {
        // Retried with the next refused upload.
        reportedOn.delete(cap)
        throw error
      })
    if (outcome === null) return
    const isPaused = outcome === 'paused'
    if (isPaused) await settings.refresh()
    parts.onReached(cap, isPaused)
  }

  function assertDiskSpace(): void {
    const min = settings.current()['min-free-bytes']
    const free = freeBytes()
    if (min === 0 || free === null) return
    isLow = free < (isLow ? min * RECOVERY_FACTOR : min)
    if (isLow)
      throw new Refusal('storage-full', 'The server has no room left for images. Nothing was stored.')
  }

  return {
    async assertOpen(maxBytes) {
      assertDiskSpace()
      await assertRemaining('daily-uploads', 1)
      await assertRemaining('daily-bytes', maxBytes)
    },
    async take(size) {
      const day = today()
      const taken: [cap: Cap, amount: number][] = []
      const release = () => {
        // If a release fails, the amount is lost for the day; a cap is never exceeded.
        for (const [cap, amount] of taken.splice(0)) {
          releasing.add(ledger.releaseCapacity(cap, day, amount))
        }
      }
      for (const [cap, amount] of [
        ['daily-uploads', 1],
        ['daily-bytes', size],
      ] as const) {
        const limit = limitOf(cap)
        if (limit === 0) continue
        const isTaken = await ledger.takeCapacity(cap, day, amount, limit).catch((error) => {
          release()
          throw error
        })
        if (!isTaken) {
          release()
          const reading = readingOf(cap)
          reading.refused = Math.min(reading.refused, amount)
          throw reached(cap)
        }
        taken.push([cap, amount])
      }
      return { release }
    },
    stop: releasing.settled,
  }
}

interface Reading {
  day: string
  limit: number
  /** Remaining amount of the cap. */
  remaining: Promise<number>
  /** When it was read, by `performance.now()`. */
  at: number
  /** The smallest amount that was refused. */
  refused: number
}

const NO_READING: Reading = {
  day: '',
  limit: 0,
  remaining: Promise.resolve(0),
  at: Number.NEGATIVE_INFINITY,
  refused: Number.POSITIVE_INFINITY,
}
