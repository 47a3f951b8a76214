/**
 * This process's share of something that all processes use together and that ends with the day. It takes from the
 * ledger more than one upload needs, ahead of time: uploads wait for no further round trip, and contend for no row. What
 * all hold unused is less than 1 % of the limit.
 */
import type { Ledger } from '../stores/ledger.ts'

export interface Share {
  /** Takes `amount`. `false` if the limit is reached. A limit of 0 is none. */
  take(amount: number): boolean | Promise<boolean>
  /** Gives back what `take` took on the same day and was not used. */
  giveBack(amount: number): void
  /** Gives all that is unused back to the ledger. */
  stop(): Promise<void>
}

/** So many processes may hold a part unused and the limit is still met within 1 %. */
const PARTS = 400

/** A ledger that said no is asked again after this time. */
const ASK_AGAIN_MS = 1000

export function createShare(parts: {
  ledger: Pick<Ledger, 'takeShare' | 'returnShare'>
  name: string
  /** As it is set now. */
  limit: () => number
  /** YYYY-MM-DD, UTC. */
  today: () => string
  onReached: () => void
}): Share {
  const { ledger, name, limit, today, onReached } = parts
  let held = { day: '', limit: 0, unused: 0 }
  let underWay: Promise<boolean> | null = null
  let saidNoAt = Number.NEGATIVE_INFINITY

  /** A new day, or a limit that was changed, begins anew. */
  function renew(): void {
    const day = today()
    if (held.day === day && held.limit === limit()) return
    const { day: oldDay, unused } = held
    held = { day, limit: limit(), unused: 0 }
    saidNoAt = Number.NEGATIVE_INFINITY
    if (unused > 0) returnUnused(oldDay, unused)
  }

  function returnUnused(day: string, amount: number): void {
    // What is lost on the way is lost to the day's limit: it is never exceeded.
    ledger.returnShare(name, day, amount).catch(() => {})
  }

  /** 0 of a small limit: then each upload asks, and nothing is held. */
  function partOf(): number {
    return Math.floor(held.limit / PARTS)
  }

  /** True if the ledger gave something. */
  async function ask(least: number): Promise<boolean> {
    const { day } = held
    for (const amount of new Set([Math.max(least, partOf()), least])) {
      if (!(await ledger.takeShare(name, day, amount, held.limit))) continue
      if (held.day === day) held.unused += amount
      else returnUnused(day, amount)
      return true
    }
    return false
  }

  async function takeLater(amount: number): Promise<boolean> {
    for (;;) {
      renew()
      if (held.unused >= amount) {
        held.unused -= amount
        return true
      }
      if (performance.now() - saidNoAt < ASK_AGAIN_MS) return false
      underWay ??= ask(amount - held.unused).finally(() => {
        underWay = null
      })
      if (await underWay) continue
      if (held.unused >= amount) continue
      saidNoAt = performance.now()
      onReached()
      return false
    }
  }

  return {
    take(amount) {
      if (limit() === 0) return true
      renew()
      if (held.unused < amount) return takeLater(amount)
      held.unused -= amount
      if (held.unused < partOf() / 2 && underWay === null && performance.now() - saidNoAt > ASK_AGAIN_MS) {
        underWay = ask(1).finally(() => {
          underWay = null
        })
        underWay.catch(() => {})
      }
      return true
    },
    giveBack(amount) {
      if (limit() === 0 || held.day !== today()) return
      held.unused += amount
      const most = partOf()
      if (held.unused <= most) return
      returnUnused(held.day, held.unused - most)
      held.unused = most
    },
    async stop() {
      await underWay?.catch(() => {})
      const { day, unused } = held
      held = { day: '', limit: 0, unused: 0 }
      if (unused > 0) await ledger.returnShare(name, day, unused).catch(() => {})
    },
  }
}
