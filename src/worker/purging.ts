/** Purges Workers Cache after the response that caused the purge, and from the cron trigger; a Worker has no background timers. */
import type { Cdn } from '../cdn/cdn.ts'
import { type WorkersCache, workersCacheCdn } from '../cdn/workers-cache.ts'
import type { Purges } from '../service/images/purges.ts'
import { type Wiring, wirePurges } from '../wiring/uploads.ts'

export interface Execution {
  waitUntil(work: Promise<unknown>): void
  /** Present when Workers Cache is enabled. */
  readonly cache?: WorkersCache
}

export function createPurging(parts: Pick<Wiring, 'config' | 'ledger' | 'now' | 'log'>) {
  let isDue = false

  function cdnOf(context?: Execution): Cdn | null {
    if (parts.config.cdnUrl === null) return null
    return workersCacheCdn(() => {
      if (context?.cache !== undefined) return context.cache
      throw new Error('Workers Cache is not enabled: see "cache" in wrangler.jsonc')
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
    /** `null` when no cache is configured. */
    cdn,
    purges,
    /** Whether purges were flushed since the last run: an image was removed or held. */
    isDue: () => isDue,
    /** Runs the pending purges once, within a request or trigger: timers and promises do not outlive their request. */
    async run(context: Execution): Promise<void> {
      isDue = false
      const { start, stop } = wirePurges(cdnOf(context), parts)
      start()
      await stop()
    },
  }
}
