/**
 * Fastly's cache, purged by surrogate key. `fastly://<service id>?token=<API token with the scope purge_select>`
 *
 * Source: Fastly API, POST /service/{service_id}/purge. The answer names a purge id for each key.
 */
import { RemoteFailure } from '../errors.ts'
import { jsonObject } from '../json.ts'
import { type Cdn, cacheTag } from './cdn.ts'
import { call, type Fetch, maxFillMs, rateOf, required } from './provider-call.ts'

/** Fastly takes 100,000 purges an hour of a customer. */
const CUSTOMER = { aMinute: 1666, burst: 1000 }

/** Keys in one call; Fastly takes 256. */
const BATCH_SIZE = 256

export function fastlyCdn(url: URL, fetch: Fetch = globalThis.fetch): Cdn {
  const api = url.searchParams.get('api') ?? 'https://api.fastly.com'
  const address = `${api}/service/${url.hostname}/purge`
  const token = required(url, 'token')
  return {
    name: 'fastly',
    batchSize: BATCH_SIZE,
    rate: rateOf(url, CUSTOMER),
    maxFillMs: maxFillMs(url),
    cacheHeaders: (id, lifetimeSeconds) => ({
      'Surrogate-Control': `max-age=${lifetimeSeconds}, stale-if-error=0`,
      'Surrogate-Key': cacheTag(id),
    }),
    async purge(names) {
      const keys = names.map(cacheTag)
      const { status, text } = await call(fetch, address, {
        method: 'POST',
        headers: { 'Fastly-Key': token, Accept: 'application/json', 'Content-Type': 'application/json' },
        body: JSON.stringify({ surrogate_keys: keys }),
      })
      if (status !== 200 || !namesAll(text, keys)) {
        throw new RemoteFailure(`Fastly answered ${status}: ${text.slice(0, 500)}`)
      }
    },
  }
}

function namesAll(text: string, keys: string[]): boolean {
  const answer = jsonObject(text)
  return keys.every((key) => typeof answer?.[key] === 'string')
}
