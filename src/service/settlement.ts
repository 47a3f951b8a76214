/**
 * What became of reservations, told to the ledger behind the uploads' backs: the ledger knows which are only held, and no
 * accepted upload waits for one more write.
 */
import type { Ledger } from '../stores/ledger.ts'

export interface Settlement {
  /** One of `bucket` became an image. */
  kept(bucket: string, day: string): void
  /** How many the ledger does not know of yet. */
  owed(bucket: string, day: string): number
  /** Takes what is owed, to be told with something else. Call `putBack` if that failed. */
  take(bucket: string, day: string): { count: number; putBack(): void }
  /** Tells all of it. */
  stop(): Promise<void>
}

/** All that was kept in this time is told at once. */
export const SETTLE_MS = 250

/** Of one statement. */
const BUCKETS_AT_ONCE = 200

export function createSettlement(ledger: Pick<Ledger, 'settleUploads'>): Settlement {
  /** By day and bucket. */
  const days = new Map<string, Map<string, number>>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let telling = Promise.resolve()

  function add(bucket: string, day: string, count: number): void {
    const buckets = days.get(day) ?? new Map<string, number>()
    days.set(day, buckets)
    buckets.set(bucket, (buckets.get(bucket) ?? 0) + count)
    timer ??= setTimeout(tell, SETTLE_MS)
  }

  function tell(): void {
    timer = undefined
    const due = [...days]
    days.clear()
    telling = telling.then(async () => {
      for (const [day, buckets] of due) {
        const byCount = Map.groupBy(buckets, ([, count]) => count)
        for (const [count, entries] of byCount) {
          for (let at = 0; at < entries.length; at += BUCKETS_AT_ONCE) {
            const some = entries.slice(at, at + BUCKETS_AT_ONCE).map(([bucket]) => bucket)
            // A ledger that is away learns nothing: such reservations count as held until that is over anyway.
            await ledger.settleUploads(some, day, count).catch(() => {})
          }
        }
      }
    })
  }

  return {
    kept: (bucket, day) => add(bucket, day, 1),
    owed: (bucket, day) => days.get(day)?.get(bucket) ?? 0,
    take(bucket, day) {
      const count = days.get(day)?.get(bucket) ?? 0
      days.get(day)?.delete(bucket)
      return { count, putBack: () => count > 0 && add(bucket, day, count) }
    },
    async stop() {
      clearTimeout(timer)
      tell()
      await telling
    },
  }
}
