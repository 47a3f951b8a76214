/** Purges of Workers Cache. They run after the response that caused them and from the cron trigger; a Worker has no timers. */
import type { Cdn } from '../cdn/cdn.ts'
import { type WorkersCache, workersCacheCdn } from '../cdn/workers-cache.ts'
import type { Purges } from '../service/images/purges.ts'
import { type Wiring, wirePurges } from '../wiring/uploads.ts'

export interface Execution {
  waitUntil(work: Promise<unknown>): void
  /** Where Workers Cache is in front. */
  readonly cache?: WorkersCache
}

export function createPurging(parts: Pick<Wiring, 'config' | 'ledger' | 'now' | 'log'>) {
  let isDue = false

  function cdnOf(context?: Execution): Cdn | null {
    if (parts.config.cdnUrl === null) return null
    return workersCacheCdn(() => {
      if (context?.cache !== undefined) return context.cache
      throw new Error('no Workers Cache is in front: see "cache" in wrangler.jsonc')
    })
  }

  const cdn = cdnOf()
  const purges: Purges = {
    ...wirePurges(cdn, parts),
    flush() {
      isDue = cdn !== null
    },
  }
  return {
    /** `null` if no cache is in front. */
    cdn,
    purges,
    /** Whether a removal came since the last round. */
    isDue: () => isDue,
    /** One round, by a request or trigger: timers and promises of another one end with that. */
    async round(context: Execution): Promise<void> {
      isDue = false
      const { start, stop } = wirePurges(cdnOf(context), parts)
      start()
      await stop()
    },
  }
}
