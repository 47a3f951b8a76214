/** Purges Workers Cache after the response that caused the purge, and from the cron trigger; a Worker has no background timers. */
import { sleep } from '../async.ts'
import type { Cdn } from '../cdn/cdn.ts'
import { type WorkersCache, workersCacheCdn } from '../cdn/workers-cache.ts'
import type { Purges } from '../service/images/purges.ts'
import { type Wiring, wirePurges } from '../wiring/uploads.ts'

export interface Execution {
  waitUntil(work: Promise<unknown>): void
  /** Present when Workers Cache is enabled. */
  readonly cache?: WorkersCache
}

/** How long flushed purges wait, so that removals close together share a call: calls are scarce. Unit: milliseconds. */
const BATCH_MS = 500

export function createPurging(parts: Pick<Wiring, 'config' | 'ledger' | 'now' | 'log'>) {
  /** When the purges that were flushed since the last run are to run, because an image was removed or held. */
  let dueAt: number | null = null

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
      if (cdn !== null) dueAt ??= parts.now() + BATCH_MS
    },
  }

  /** Runs the pending purges once, within a request or trigger: timers and promises do not outlive their request. */
  async function run(context: Execution): Promise<void> {
    dueAt = null
    const { start, stop } = wirePurges(cdnOf(context), parts)
    start()
    await stop()
  }

  return {
    /** `null` when no cache is configured. */
    cdn,
    purges,
    run,
    /** Runs flushed purges, if there are any, when they are due. */
    async runFlushed(context: Execution): Promise<void> {
      const due = dueAt
      if (due === null) return
      await sleep(due - parts.now())
      // Another request may have run them in the meantime.
      if (dueAt === due) await run(context)
    },
  }
}
