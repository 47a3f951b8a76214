/**
 * Workers Cache in front of the Worker, which purges it by tag. `CDN_URL=workers-cache://default`
 *
 * Source: Cloudflare Workers, "Workers Cache": purges are subject to the limits of the Free plan on every plan, and a
 * response can contain `success: false`.
 */
import { withDeadline } from '../async.ts'
import { RemoteFailure } from '../errors.ts'
import { type CacheRules, type Cdn, cacheTag, MAX_PURGE_MS } from './cdn.ts'

/** `ctx.cache` of a Worker's entry point. */
export interface WorkersCache {
  purge(options: { tags: string[] }): Promise<{ success: boolean; errors?: { message?: string }[] }>
}

const PURGES_PER_MINUTE = 5
const BURST = 25
const TAGS_PER_CALL = 100

/** With five calls a minute, an earlier retry would be rejected again. */
const RETRY_MS = 15_000

const MAX_FILL_MS = 60_000

/** Without `CDN_URL` nothing is purged, so nothing is cached, even if the cache is enabled. */
export const UNPURGED: CacheRules = {
  cacheHeaders: () => ({ 'Cloudflare-CDN-Cache-Control': 'no-store' }),
}

/** `cache`: returns the cache of the current request or trigger. */
export function workersCacheCdn(cache: () => WorkersCache): Cdn {
  return {
    name: 'workers-cache',
    batchSize: TAGS_PER_CALL,
    rate: { intervalMs: 60_000 / PURGES_PER_MINUTE, burst: BURST },
    maxFillMs: MAX_FILL_MS,
    cacheHeaders: (id, lifetimeSeconds) => ({
      // `must-revalidate`: no stale copy is served, not even while the Worker fails (RFC 9111, 5.2.2.2).
      'Cloudflare-CDN-Cache-Control': `public, max-age=${lifetimeSeconds}, must-revalidate`,
      'Cache-Tag': cacheTag(id),
    }),
    async purge(names) {
      const purging = async () => cache().purge({ tags: names.map(cacheTag) })
      const result = await withDeadline(
        purging(),
        MAX_PURGE_MS,
        () => new Error('no response in time'),
      ).catch((cause) => {
        throw new RemoteFailure('Workers Cache did not respond', RETRY_MS, { cause })
      })
      if (result?.success === true) return
      const why = result?.errors?.map(({ message }) => message).join(', ') || 'no success'
      throw new RemoteFailure(`Workers Cache refused the purge: ${why}`, RETRY_MS)
    },
  }
}
