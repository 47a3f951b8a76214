/** The ledger's clock, shared by all servers, so that a server whose own clock is wrong still gets the UTC day right. */
import { createIntervalJob } from '../async.ts'
import { Refusal } from '../errors.ts'
import type { Ledger } from '../stores/ledger.ts'
import type { Quota } from './quota/quota.ts'

export interface Clock {
  /** Epoch milliseconds, by the ledger's clock. */
  now(): number
  /** Whether this machine's own clock agrees with the ledger's. */
  isRight(): boolean
  /** Re-checks with the ledger if the clocks disagree. Throws `Refusal` if they still do. */
  assertRight(): Promise<void>
  stop(): Promise<void>
}

/** Beyond this difference, responses would show the wrong day. */
const TOLERANCE_MS = 60_000

/** A monotonic clock drifts by mere milliseconds in this time. */
const SYNC_INTERVAL_MS = 30_000

/** Minimum time between two re-checks while the clock is wrong. */
const RECHECK_MS = 1000

/** Throws whatever `ledger.time` throws. `local`: this machine's clock, epoch milliseconds. */
export async function createClock(ledger: Pick<Ledger, 'time'>, local: () => number): Promise<Clock> {
  const requestedAt = performance.now()
  const first = await ledger.time()
  // The ledger is on this machine and has no clock of its own.
  if (first === null) {
    return { now: local, isRight: () => true, assertRight: async () => {}, stop: async () => {} }
  }
  // From here on, steps of this machine's clock don't matter: time is the ledger's, advanced by the monotonic clock.
  let offset = first - (requestedAt + performance.now()) / 2
  let lastSyncAt = performance.now()
  const now = () => performance.now() + offset
  const isRight = () => Math.abs(local() - now()) <= TOLERANCE_MS

  async function sync(): Promise<void> {
    lastSyncAt = performance.now()
    const time = await ledger.time()
    if (time !== null) offset = time - (lastSyncAt + performance.now()) / 2
  }

  // Failures can be ignored: while the ledger is unavailable, uploads are refused anyway.
  const job = createIntervalJob(sync, SYNC_INTERVAL_MS, () => {}, { isFirstDone: true, keepsAlive: false })
  job.start()

  return {
    now: () => Math.round(now()),
    isRight,
    async assertRight() {
      // The monotonic clock stands still while the machine sleeps.
      if (!isRight() && performance.now() - lastSyncAt > RECHECK_MS) await sync()
      if (isRight()) return
      throw new Refusal('unavailable', "This server's clock is wrong. Please try again later.", {
        cause: new Error(`the clock of this machine is off by ${Math.round((local() - now()) / 1000)} s`),
      })
    },
    stop: job.stop,
  }
}

/** A quota that refuses reservations while the clock is wrong. */
export function onTime(quota: Quota, clock: Clock): Quota {
  return {
    ...quota,
    async reserve(address, options) {
      await clock.assertRight()
      return quota.reserve(address, options)
    },
  }
}
