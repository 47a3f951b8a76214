/**
 * Fastly's cache, purged by surrogate key. `fastly://<service id>?token=<API token with the scope purge_select>`
 *
 * Source: Fastly API, POST /service/{service_id}/purge. The response contains a purge ID for each key.
 */
import { RemoteFailure } from '../errors.ts'
import { parseJsonObject } from '../json.ts'
import { type Cdn, cacheTag } from './cdn.ts'
import { call, maxFillMs, rateOf, tokenOf } from './provider-call.ts'

/** Fastly allows 100,000 purges per hour and customer. */
const RATE_LIMIT = { perMinute: 1666, burst: 1000 }

/** Fastly's maximum number of keys per call. */
const BATCH_SIZE = 256

export function fastlyCdn(url: URL): Cdn {
  const api = url.searchParams.get('api') ?? 'https://api.fastly.com'
  const endpoint = `${api}/service/${url.hostname}/purge`
  const token = tokenOf(url)
  return {
    name: 'fastly',
    batchSize: BATCH_SIZE,
    rate: rateOf(url, RATE_LIMIT),
    maxFillMs: maxFillMs(url),
    cacheHeaders: (id, lifetimeSeconds) => ({
      'Surrogate-Control': `max-age=${lifetimeSeconds}, stale-if-error=0`,
      'Surrogate-Key': cacheTag(id),
    }),
    async purge(names) {
      const keys = names.map(cacheTag)
      const { status, text } = await call(endpoint, {
        method: 'POST',
        headers: { 'Fastly-Key': token, Accept: 'application/json', 'Content-Type': 'application/json' },
        body: JSON.stringify({ surrogate_keys: keys }),
      })
      if (status !== 200 || !confirmsAll(text, keys)) {
        throw new RemoteFailure(`Fastly responded with status ${status}: ${text.slice(0, 500)}`)
      }
    },
  }
}

function confirmsAll(text: string, keys: string[]): boolean {
  const purgeIds = parseJsonObject(text)
  return keys.every((key) => typeof purgeIds?.[key] === 'string')
}
