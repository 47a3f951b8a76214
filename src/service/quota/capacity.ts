/** What the whole instance stores in a day, and what room the disk must keep (docs/decisions/036). */
import { Refusal } from '../../errors.ts'
import type { NoticeKind } from '../../notify/notifier.ts'
import type { Ledger } from '../../stores/ledger.ts'
import type { SettingName, Settings } from '../settings.ts'
import { DAY_MS, utcDayOf } from '../utc-day.ts'
import { createShare } from './share.ts'

export interface Capacity {
  /**
   * Before a body is read, of which no more than `mostBytes` will be stored. Throws `Refusal`: `capacity-reached` if a cap
   * is; `storage-full` where the disk has less room than it must keep. What is only under way counts for nothing.
   */
  assertOpen(mostBytes: number): Promise<void>
  /** Before an image of `bytes` is stored. Throws `Refusal('capacity-reached')`. */
  take(bytes: number): Promise<Taken>
  stop(): Promise<void>
}

export interface Taken {
  /** Nothing was stored after all. */
  giveBack(): void
}

export type Cap = Extract<SettingName, 'daily-uploads' | 'daily-bytes'>

/** So many days a cap that was reached is remembered. */
const REMEMBERED_DAYS = 7

/** A disk that ran low takes uploads again when it has this much more than it must keep. */
const RECOVERED = 1.1

export function createCapacity(parts: {
  ledger: Ledger
  settings: Settings
  now: () => number
  /** Free on the disk, in bytes. `null` if that is not known. */
  freeBytes: () => number | null
  /** Hears that a cap was reached, once a day; `isPaused`: for the second time, and uploads are paused for it. */
  onReached: (cap: Cap, isPaused: boolean) => void
  onFailure: (error: unknown) => void
}): Capacity {
  const { ledger, settings, now, freeBytes } = parts
  const today = () => utcDayOf(now())
  const uploads = shareOf('daily-uploads')
  const bytes = shareOf('daily-bytes')
  let isLow = false
  const reported = new Set<string>()

  function shareOf(cap: Cap) {
    return createShare({
      ledger,
      name: cap,
      limit: () => settings.current()[cap],
      today,
      onReached: () => void report(cap).catch(parts.onFailure),
    })
  }

  /** A cap that is reached twice in a week pauses uploads: somebody should look. */
  async function report(cap: Cap): Promise<void> {
    const day = today()
    const key = `${cap} ${day}`
    if (reported.has(key)) return
    reported.clear()
    reported.add(key)
    const since = utcDayOf(now() - REMEMBERED_DAYS * DAY_MS)
    const outcome = await ledger.recordReached(cap, day, since, new Date(now()), {
      raises: 'cap.reached' satisfies NoticeKind,
      pause: {
        reason: `${cap} was reached, the second cap in a week`,
        who: 'pinhole',
        raises: 'uploads.paused' satisfies NoticeKind,
      },
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

  function reached(): Refusal {
    return new Refusal(
      'capacity-reached',
      'This server has accepted all the uploads that it accepts in a day. It accepts more from midnight UTC.',
    )
  }

  return {
    async assertOpen(mostBytes) {
      assertRoom()
      if ((await uploads.isReached(1)) || (await bytes.isReached(mostBytes))) throw reached()
    },
    async take(size) {
      const day = today()
      if (!(await uploads.take(1))) throw reached()
      try {
        if (!(await bytes.take(size))) throw reached()
      } catch (error) {
        uploads.giveBack(1)
        throw error
      }
      let isOver = false
      return {
        giveBack() {
          // Yesterday's cap is no longer counted.
          if (isOver || day !== today()) return
          isOver = true
          uploads.giveBack(1)
          bytes.giveBack(size)
        },
      }
    },
    async stop() {
      await Promise.all([uploads.stop(), bytes.stop()])
    },
  }
}
