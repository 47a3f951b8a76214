/**
 * Confirms reservations in the background: the ledger learns which of them became images, and no accepted upload waits for
 * one more write.
 */
import type { Ledger } from '../../stores/ledger.ts'

export interface Confirmations {
  /** One reservation of `bucket` became an image. */
  add(bucket: string, day: string): void
  /** How many the ledger does not know of yet. */
  pending(bucket: string, day: string): number
  /** Takes what is pending, to be sent with another statement. Call `putBack` if that failed. */
  take(bucket: string, day: string): { count: number; putBack(): void }
  /** Sends all that is pending. */
  stop(): Promise<void>
}

/** Confirmations are collected for this time. */
export const CONFIRM_MS = 250

/** Of one statement. */
const BUCKETS_AT_ONCE = 200

export function createConfirmations(ledger: Pick<Ledger, 'confirmUploads'>): Confirmations {
  /** By day and bucket. */
  const days = new Map<string, Map<string, number>>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let sending = Promise.resolve()

  function add(bucket: string, day: string, count: number): void {
    const buckets = days.get(day) ?? new Map<string, number>()
    days.set(day, buckets)
    buckets.set(bucket, (buckets.get(bucket) ?? 0) + count)
    timer ??= setTimeout(send, CONFIRM_MS)
  }

  function send(): void {
    timer = undefined
    const due = [...days]
    days.clear()
    sending = sending.then(async () => {
      for (const [day, buckets] of due) {
        const byCount = Map.groupBy(buckets, ([, count]) => count)
        for (const [count, entries] of byCount) {
          for (let at = 0; at < entries.length; at += BUCKETS_AT_ONCE) {
            const some = entries.slice(at, at + BUCKETS_AT_ONCE).map(([bucket]) => bucket)
            // Lost if the ledger is unavailable: such reservations count as reserved until they expire.
            await ledger.confirmUploads(some, day, count).catch(() => {})
          }
        }
      }
    })
  }

  return {
    add: (bucket, day) => add(bucket, day, 1),
    pending: (bucket, day) => days.get(day)?.get(bucket) ?? 0,
    take(bucket, day) {
      const count = days.get(day)?.get(bucket) ?? 0
      days.get(day)?.delete(bucket)
      return { count, putBack: () => count > 0 && add(bucket, day, count) }
    },
    async stop() {
      clearTimeout(timer)
      send()
      await sending
    },
  }
}
