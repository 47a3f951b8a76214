/**
 * Cloudflare's cache of a zone. `cloudflare://<zone id>?token=<API token with the permission Cache Purge>`
 *
 * Purged by address, of which every plan takes hundreds a second; by tag, of which the smallest takes five calls a minute,
 * only where that fails or the service does not know its own address.
 *
 * Source: Cloudflare API, POST /zones/{zone_id}/purge_cache, and "Availability and limits" of purging. An answer of 200 can
 * still say `"success": false`.
 */
import { RemoteFailure } from '../errors.ts'
import { jsonObject } from '../json.ts'
import { type Cdn, cacheTag, imageTargets, MAX_PURGE_MS, purgeName } from './cdn.ts'
import { call, type Fetch, maxFillMs, rateOf, required } from './provider-call.ts'

/** The account's limit on purges by tag: 5 calls a minute, 25 at once. */
const BY_TAG = { aMinute: 5, burst: 25, ids: 100 }

/** The account's limit on purges by address: 800 addresses a second, 100 in a call. */
const ADDRESSES = { aSecond: 800, inCall: 100 }

/** Addresses of an image. Its type is known but for damaged ones. */
const OF_IMAGE = imageTargets(purgeName('AAAAAAAAAAA', 'image/jpeg')).length

const IDS_IN_CALL = Math.floor(ADDRESSES.inCall / OF_IMAGE)

const BY_ADDRESS = {
  aMinute: Math.floor((60 * ADDRESSES.aSecond) / (IDS_IN_CALL * OF_IMAGE)),
  // Half of what Cloudflare takes at once: a call may come later than its turn, and meet the next ones.
  burst: Math.floor(ADDRESSES.aSecond / (IDS_IN_CALL * OF_IMAGE) / 2),
  ids: IDS_IN_CALL,
}

/** `baseUrl`: of the service, as visitors see it. `null` if it is not known: then images are purged by tag alone. */
export function cloudflareCdn(url: URL, fetch: Fetch = globalThis.fetch, baseUrl: string | null = null): Cdn {
  const api = url.searchParams.get('api') ?? 'https://api.cloudflare.com/client/v4'
  const address = `${api}/zones/${url.hostname}/purge_cache`
  const token = required(url, 'token')
  const plan = baseUrl === null ? BY_TAG : BY_ADDRESS

  async function ask(what: { files: string[] } | { tags: string[] }, signal: AbortSignal): Promise<void> {
    const { status, text } = await call(fetch, address, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(what),
      signal,
    })
    if (status !== 200 || jsonObject(text)?.success !== true) {
      throw new RemoteFailure(`Cloudflare answered ${status}: ${text.slice(0, 500)}`)
    }
  }

  return {
    name: 'cloudflare',
    batchSize: plan.ids,
    rate: rateOf(url, plan),
    maxFillMs: maxFillMs(url),
    cacheHeaders: (id, lifetimeSeconds) => ({
      'Cloudflare-CDN-Cache-Control': `public, max-age=${lifetimeSeconds}, must-revalidate`,
      'Cache-Tag': cacheTag(id),
    }),
    async purge(names) {
      const signal = AbortSignal.timeout(MAX_PURGE_MS)
      if (baseUrl !== null) {
        const files = names.flatMap(imageTargets).map((target) => baseUrl + target)
        try {
          for (let at = 0; at < files.length; at += ADDRESSES.inCall) {
            await ask({ files: files.slice(at, at + ADDRESSES.inCall) }, signal)
          }
          return
        } catch (error) {
          // Behind the last moment there is no time for another call.
          if (!(error instanceof RemoteFailure) || signal.aborted) throw error
        }
      }
      await ask({ tags: names.map(cacheTag) }, signal)
    },
  }
}
