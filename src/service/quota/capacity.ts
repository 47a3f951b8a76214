/** Caps of the whole instance for each UTC day, and the room that the disk must keep (docs/decisions/036). */
import { createBackgroundTasks } from '../../async.ts'
import { Refusal } from '../../errors.ts'
import type { NoticeKind } from '../../notify/notifier.ts'
import type { Ledger } from '../../stores/ledger.ts'
import type { SettingName, Settings } from '../settings.ts'
import { DAY_MS, utcDayOf } from '../utc-day.ts'

export interface Capacity {
  /**
   * Call it before a body is read of which no more than `maxBytes` will be stored. Throws `Refusal`: `capacity-reached` if
   * a cap is, as far as that is known; `storage-full` if the disk has less room than it must keep. Uploads that are under
   * way count for nothing.
   */
  assertOpen(maxBytes: number): Promise<void>
  /** Call it before an image of `bytes` is stored: counts it. Throws `Refusal('capacity-reached')`. */
  take(bytes: number): Promise<Taken>
  /** Resolves when the releases that nobody waits for have ended. */
  stop(): Promise<void>
}

export interface Taken {
  /** Nothing was stored after all. */
  release(): void
}

export type Cap = Extract<SettingName, 'daily-uploads' | 'daily-bytes'>

/** Caps reached in this many days count together. */
const REMEMBERED_DAYS = 7

/** A disk that ran low takes uploads again when it has this much more than it must keep. */
const RECOVERED = 1.1

/** How long a reading of a counter is used before the next upload. Unit: milliseconds. */
const READ_AGAIN_MS = 1000

/**
 * The counts are in the ledger, which processes share: together they never exceed a cap. Readings of them are this process's
 * own, and up to a second old. `stop` waits for releases. Throws what the ledger throws, beside the refusals that `Capacity` names.
 */
export function createCapacity(parts: {
  ledger: Ledger
  settings: Settings
  now: () => number
  /** Free on the disk, in bytes. `null` if that is not known. */
  freeBytes: () => number | null
  /** Called when a cap is reached, once a day. `isPaused`: it is the second one, and uploads are paused for it. */
  onReached: (cap: Cap, isPaused: boolean) => void
  onFailure: (error: unknown) => void
}): Capacity {
  const { ledger, settings, now, freeBytes } = parts
  const today = () => utcDayOf(now())
  const limitOf = (cap: Cap) => settings.current()[cap]
  const readings = { 'daily-uploads': NO_READING, 'daily-bytes': NO_READING }
  const releasing = createBackgroundTasks()
  let isLow = false
  const reportedOn = new Map<Cap, string>()

  /** The last reading of a cap's counter. A new day, or a limit that was changed, begins anew. */
  function readingOf(cap: Cap): Reading {
    const [day, limit] = [today(), limitOf(cap)]
    if (readings[cap].day !== day || readings[cap].limit !== limit) {
      readings[cap] = { ...NO_READING, day, limit }
    }
    return readings[cap]
  }

  function leftOf(cap: Cap): Promise<number> {
    const reading = readingOf(cap)
    if (performance.now() - reading.at >= READ_AGAIN_MS) {
      reading.at = performance.now()
      reading.left = ledger.usedCapacity(cap, reading.day).then((used) => reading.limit - used)
      reading.left.catch(() => {
        reading.at = Number.NEGATIVE_INFINITY
      })
    }
    return reading.left
  }

  async function assertLeft(cap: Cap, amount: number): Promise<void> {
    if (limitOf(cap) === 0) return
    const left = await leftOf(cap)
    // What a body announces is an upper bound: it is read all the same, until as much was refused.
    const { refused } = readingOf(cap)
    if (left < 1 || (amount >= refused && left < refused)) throw reached(cap)
  }

  function reached(cap: Cap): Refusal {
    report(cap).catch(parts.onFailure)
    return new Refusal(
      'capacity-reached',
      'This server has accepted all the uploads that it accepts in a day. It accepts more from midnight UTC.',
    )
  }

  /** A cap that is reached twice in a week pauses uploads: somebody should look. */
  async function report(cap: Cap): Promise<void> {
    const day = today()
    if (reportedOn.get(cap) === day) return
    reportedOn.set(cap, day)
    const since = utcDayOf(now() - REMEMBERED_DAYS * DAY_MS)
    const outcome = await ledger
      .recordReached(cap, day, since, new Date(now()), {
        raises: 'cap.reached' satisfies NoticeKind,
        pause: {
          reason: `${cap} was reached, the second cap in a week`,
          who: 'pinhole',
          raises: 'uploads.paused' satisfies NoticeKind,
        },
      })
      .catch((error) => {
        // The next upload that is refused reports it.
        reportedOn.delete(cap)
        throw error
      })
    if (outcome === null) return
    const isPaused = outcome === 'paused'
    if (isPaused) await settings.refresh()
    parts.onReached(cap, isPaused)
  }

  function assertRoom(): void {
    const least = settings.current()['min-free-bytes']
    const free = freeBytes()
    if (least === 0 || free === null) return
    isLow = free < (isLow ? least * RECOVERED : least)
    if (isLow)
      throw new Refusal('storage-full', 'The server has no room left for images. Nothing was stored.')
  }

  return {
    async assertOpen(maxBytes) {
      assertRoom()
      await assertLeft('daily-uploads', 1)
      await assertLeft('daily-bytes', maxBytes)
    },
    async take(size) {
      const day = today()
      const taken: [cap: Cap, amount: number][] = []
      const release = () => {
        // What can't be released is lost to the day: a cap is never exceeded.
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
  left: Promise<number>
  /** When it was read, by `performance.now()`. */
  at: number
  /** The smallest amount that was refused. */
  refused: number
}

const NO_READING: Reading = {
  day: '',
  limit: 0,
  left: Promise.resolve(0),
  at: Number.NEGATIVE_INFINITY,
  refused: Number.POSITIVE_INFINITY,
}
