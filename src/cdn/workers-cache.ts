/**
 * Workers Cache, in front of the Worker itself: purged by tag, by the Worker. `CDN_URL=workers-cache://default`
 *
 * Source: Cloudflare Workers, "Workers Cache": calls count against the limits of the Free plan whatever the plan is, and an
 * answer can say `success: false`.
 */
import { withDeadline } from '../async.ts'
import { RemoteFailure } from '../errors.ts'
import { type Cdn, cacheTag, MAX_PURGE_MS } from './cdn.ts'

/** As `ctx.cache` of a Worker's entry point has it. */
export interface WorkersCache {
  purge(what: { tags: string[] }): Promise<{ success: boolean; errors?: { message?: string }[] }>
}

const A_MINUTE = 5
const BURST = 25
const TAGS_IN_CALL = 100

/** A minute holds five calls: asked again earlier it says no again. */
const RETRY_MS = 15_000

const MAX_FILL_MS = 60_000

/** `cache`: of the request or the trigger that purges. */
export function workersCacheCdn(cache: () => WorkersCache): Cdn {
  return {
    name: 'workers-cache',
    batchSize: TAGS_IN_CALL,
    rate: { intervalMs: 60_000 / A_MINUTE, burst: BURST },
    maxFillMs: MAX_FILL_MS,
    cacheHeaders: (id, lifetimeSeconds) => ({
      // `must-revalidate`: no stale copy is served, not even while the Worker fails (RFC 9111, 5.2.2.2).
      'Cloudflare-CDN-Cache-Control': `public, max-age=${lifetimeSeconds}, must-revalidate`,
      'Cache-Tag': cacheTag(id),
    }),
    async purge(names) {
      const asking = async () => cache().purge({ tags: names.map(cacheTag) })
      const answer = await withDeadline(asking(), MAX_PURGE_MS, () => new Error('no answer in time')).catch(
        (cause) => {
          throw new RemoteFailure('Workers Cache did not answer', RETRY_MS, { cause })
        },
      )
      if (answer?.success === true) return
      const why = answer?.errors?.map(({ message }) => message).join(', ') || 'no success'
      throw new RemoteFailure(`Workers Cache answered: ${why}`, RETRY_MS)
    },
  }
}
