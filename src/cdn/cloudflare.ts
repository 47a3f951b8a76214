/**
 * Cloudflare's cache, purged by tag. `cloudflare://<zone id>?token=<API token with the permission Cache Purge>`
 *
 * Source: Cloudflare API, POST /zones/{zone_id}/purge_cache. An answer of 200 can still say `"success": false`.
 */
import { type Cdn, cacheTag, PurgeFailed } from './cdn.ts'
import { call, type Fetch, longestFillMs, rateOf, required } from './provider-call.ts'

/** Limit of an account for purges by tag: 5 a minute, 25 at once. A larger plan is told with `purges` and `burst`. */
const FREE_PLAN = { aMinute: 5, burst: 25 }

/** Tags in one call. */
const BATCH_SIZE = 100

export function cloudflareCdn(url: URL, fetch: Fetch = globalThis.fetch): Cdn {
  const api = url.searchParams.get('api') ?? 'https://api.cloudflare.com/client/v4'
  const address = `${api}/zones/${url.hostname}/purge_cache`
  const token = required(url, 'token')
  return {
    name: 'cloudflare',
    batchSize: BATCH_SIZE,
    rate: rateOf(url, FREE_PLAN),
    longestFillMs: longestFillMs(url),
    cacheHeaders: (id, lifetimeSeconds) => ({
      'Cloudflare-CDN-Cache-Control': `public, max-age=${lifetimeSeconds}, must-revalidate`,
      'Cache-Tag': cacheTag(id),
    }),
    async purge(ids) {
      const { status, text } = await call(fetch, address, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ tags: ids.map(cacheTag) }),
      })
      if (status !== 200 || !saysSuccess(text)) {
        throw new PurgeFailed(`Cloudflare answered ${status}: ${text.slice(0, 500)}`)
      }
    },
  }
}

function saysSuccess(text: string): boolean {
  try {
    return (JSON.parse(text) as { success?: unknown }).success === true
  } catch {
    return false
  }
}
