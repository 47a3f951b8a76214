/** The time by the clock that all servers share, so that a machine whose own is wrong counts no day wrong. */
import { createIntervalJob } from '../async.ts'
import { Refusal } from '../errors.ts'
import type { Ledger } from '../stores/ledger.ts'
import type { Quota } from './quota/quota.ts'

export interface Clock {
  /** Epoch milliseconds, by the ledger's clock. */
  now(): number
  /** Whether this machine's own clock agrees with it. */
  isRight(): boolean
  /** Asks the ledger once more if it does not. Throws `Refusal` if it still does not. */
  assertRight(): Promise<void>
  stop(): Promise<void>
}

/** Difference at which answers would show the wrong day. */
const TOLERANCE_MS = 60_000

/** The machine's steady clock drifts by milliseconds in this time. */
const ASK_EVERY_MS = 30_000

/** Shortest time between two checks of a clock that is wrong. */
const ASK_AGAIN_MS = 1000

/** Throws what `ledger.time` throws. `local`: this machine's clock, epoch milliseconds. */
export async function createClock(ledger: Pick<Ledger, 'time'>, local: () => number): Promise<Clock> {
  const askedAt = performance.now()
  const first = await ledger.time()
  // One machine, one clock.
  if (first === null) {
    return { now: local, isRight: () => true, assertRight: async () => {}, stop: async () => {} }
  }
  // From here on steps of this machine's clock do not count: only the ledger's and the steady one do.
  let offset = first - (askedAt + performance.now()) / 2
  let lastAskedAt = performance.now()
  const now = () => performance.now() + offset
  const isRight = () => Math.abs(local() - now()) <= TOLERANCE_MS

  async function ask(): Promise<void> {
    lastAskedAt = performance.now()
    const time = await ledger.time()
    if (time !== null) offset = time - (lastAskedAt + performance.now()) / 2
  }

  // A failure needs no action: a ledger that is away takes no uploads.
  const job = createIntervalJob(ask, ASK_EVERY_MS, () => {}, { isFirstDone: true, keepsAlive: false })
  job.start()

  return {
    now: () => Math.round(now()),
    isRight,
    async assertRight() {
      // The steady clock stands still while a machine sleeps.
      if (!isRight() && performance.now() - lastAskedAt > ASK_AGAIN_MS) await ask()
      if (isRight()) return
      throw new Refusal('unavailable', "This server's clock is wrong. Please try again later.", {
        cause: new Error(`the clock of this machine is off by ${Math.round((local() - now()) / 1000)} s`),
      })
    },
    stop: job.stop,
  }
}

/** Reserves nothing while the clock is wrong. */
export function onTime(quota: Quota, clock: Clock): Quota {
  return {
    ...quota,
    async reserve(address, options) {
      await clock.assertRight()
      return quota.reserve(address, options)
    },
  }
}
