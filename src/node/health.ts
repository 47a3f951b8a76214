/** Readiness: whether this process can do its work now. */
import { cacheSuccess } from '../async.ts'
import type { Health } from '../http/context.ts'
import type { Log } from '../http/log.ts'
import type { Stores } from './open/stores.ts'

/** How long a success is cached. Anyone can ask, and each check writes to the store and the ledger. */
const SUCCESS_TTL_MS = 500

export function healthOf({ objects, ledger, clock, purges }: Stores, log: Log): Health {
  const parts = {
    store: cacheSuccess(SUCCESS_TTL_MS, objects.check),
    ledger: cacheSuccess(SUCCESS_TTL_MS, ledger.check),
    clock: () => clock.assertRight(),
  }

  async function fault([part, check]: [string, () => Promise<void>]): Promise<[string, string][]> {
    try {
      await check()
      return []
    } catch (error) {
      log.warn({ err: error, part }, 'not ready')
      return [[part, part === 'clock' ? 'wrong' : 'unavailable']]
    }
  }

  return {
    async faults() {
      return Object.fromEntries((await Promise.all(Object.entries(parts).map(fault))).flat())
    },
    purges: purges.pending,
  }
}
