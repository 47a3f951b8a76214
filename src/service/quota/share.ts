/**
 * This process's share of something that all processes use together and that ends with the day. It takes from the
 * ledger more than one upload needs, ahead of time: uploads wait for no further round trip, and contend for no row. What
 * all hold unused is less than 1 % of the limit.
 */
import type { Ledger } from '../../stores/ledger.ts'

export interface Share {
  /** Takes `amount`. `false` if the limit is reached. A limit of 0 is none. */
  take(amount: number): boolean | Promise<boolean>
  /** Whether `amount` could not be taken, as far as that is known without taking it. */
  isReached(amount: number): Promise<boolean>
  /** Gives back what `take` took on the same day and was not used. */
  giveBack(amount: number): void
  /** Gives all that is unused back to the ledger. */
  stop(): Promise<void>
}

/** So many processes may hold a part unused and the limit is still met within 1 %. */
const PARTS = 400

/** What the ledger said is believed for this time. Unit: milliseconds. */
const ASK_AGAIN_MS = 1000

const NOTHING_REFUSED = { amount: Number.POSITIVE_INFINITY, at: Number.NEGATIVE_INFINITY }
const NO_LOOK = { left: Promise.resolve(0), at: Number.NEGATIVE_INFINITY }

export function createShare(parts: {
  ledger: Pick<Ledger, 'takeShare' | 'returnShare' | 'usedShare'>
  name: string
  /** As it is set now. */
  limit: () => number
  /** YYYY-MM-DD, UTC. */
  today: () => string
  onReached: () => void
}): Share {
  const { ledger, name, limit, today, onReached } = parts
  let held = { day: '', limit: 0, unused: 0 }
  let asking: { least: number; isGiven: Promise<boolean> } | null = null
  /** The smallest amount that the ledger refused, and when it last refused one. */
  let refused = NOTHING_REFUSED
  let room = NO_LOOK

  /** A new day, or a limit that was changed, begins anew. */
  function renew(): void {
    const day = today()
    if (held.day === day && held.limit === limit()) return
    const { day: oldDay, unused } = held
    held = { day, limit: limit(), unused: 0 }
    refused = NOTHING_REFUSED
    room = NO_LOOK
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

  function askFor(least: number): { least: number; isGiven: Promise<boolean> } {
    asking ??= {
      least,
      isGiven: ask(least).finally(() => {
        asking = null
      }),
    }
    return asking
  }

  function isRefused(amount: number): boolean {
    return amount >= refused.amount && performance.now() - refused.at < ASK_AGAIN_MS
  }

  async function takeLater(amount: number): Promise<boolean> {
    for (;;) {
      renew()
      if (held.unused >= amount) {
        held.unused -= amount
        return true
      }
      if (isRefused(amount)) return false
      const least = amount - held.unused
      const asked = askFor(least)
      if (await asked.isGiven) continue
      // Somebody asked for more than this, or something was given back meanwhile.
      if (asked.least > least || held.unused >= amount) continue
      refused = { amount: Math.min(amount, refused.amount), at: performance.now() }
      onReached()
      return false
    }
  }

  /** What all processes have left, at most `ASK_AGAIN_MS` ago. */
  function lookForRoom(): Promise<number> {
    if (performance.now() - room.at >= ASK_AGAIN_MS) {
      const look = {
        at: performance.now(),
        left: ledger.usedShare(name, held.day).then((used) => held.limit - used),
      }
      look.left.catch(() => {
        if (room === look) room = NO_LOOK
      })
      room = look
    }
    return room.left
  }

  return {
    take(amount) {
      if (limit() === 0) return true
      renew()
      if (held.unused < amount) return takeLater(amount)
      held.unused -= amount
      if (held.unused < partOf() / 2 && asking === null && !isRefused(1)) askFor(1).isGiven.catch(() => {})
      return true
    },
    async isReached(amount) {
      if (limit() === 0) return false
      renew()
      if (held.unused >= amount) return false
      // Before anything was refused: what is left is less than what processes take ahead of need.
      const least = refused === NOTHING_REFUSED ? Math.max(1, partOf()) : refused.amount
      if (amount < least || (await lookForRoom()) + held.unused >= least) return false
      onReached()
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
      await asking?.isGiven.catch(() => {})
      const { day, unused } = held
      held = { day: '', limit: 0, unused: 0 }
      if (unused > 0) await ledger.returnShare(name, day, unused).catch(() => {})
    },
  }
}
