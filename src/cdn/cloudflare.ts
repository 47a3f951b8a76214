/**
 * Cloudflare's cache of a zone. `cloudflare://<zone id>?token=<API token with the permission Cache Purge>`
 *
 * Purges by URL, which every plan allows hundreds of times a second. Falls back to purging by tag, limited to five calls a
 * minute on the smallest plan, only if that fails or the service does not know its own URL.
 *
 * Source: Cloudflare API, POST /zones/{zone_id}/purge_cache; "Purge by single-file", "Availability and limits". A 200 response
 * can still contain `"success": false`.
 */
import { batchesOf } from '../async.ts'
import { RemoteFailure } from '../errors.ts'
import { parseJsonObject } from '../json.ts'
import { type Cdn, cacheTag, imageTargets, MAX_PURGE_MS, purgeName } from './cdn.ts'
import { call, maxFillMs, rateOf, tokenOf } from './provider-call.ts'

/** The account's limit on purges by tag: 5 calls a minute, bursts of 25. */
const BY_TAG = { perMinute: 5, burst: 25, ids: 100 }

/** The account's limit on purges by URL: 800 URLs a second, 100 per call. */
const URLS = { perSecond: 800, perCall: 100 }

/** URLs of an image. The type is known except for damaged images. */
const URLS_PER_IMAGE = imageTargets(purgeName('AAAAAAAAAAA', 'image/jpeg')).length

const IDS_PER_CALL = Math.floor(URLS.perCall / URLS_PER_IMAGE)

const BY_URL = {
  perMinute: Math.floor((60 * URLS.perSecond) / (IDS_PER_CALL * URLS_PER_IMAGE)),
  // Half of Cloudflare's burst limit, as a delayed call may coincide with the next ones.
  burst: Math.floor(URLS.perSecond / (IDS_PER_CALL * URLS_PER_IMAGE) / 2),
  ids: IDS_PER_CALL,
}

/** Request headers in the default cache key, some only with unusual values ("Cache keys"). */
const KEY_HEADERS = [
  'origin',
  'forwarded',
  'x-host',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-original-url',
  'x-rewrite-url',
]

/** Whether the cache key has more than the URL. */
function isKeyed(header: (name: string) => string | undefined, host: string): boolean {
  return (
    KEY_HEADERS.some((name) => header(name) !== undefined) ||
    !['http', 'https', undefined].includes(header('x-forwarded-scheme')) ||
    // A proxy behind Cloudflare may add the same host.
    ![host, undefined].includes(header('x-forwarded-host'))
  )
}

/** `baseUrl`: public URL of the service. `null` if unknown; images are then purged by tag only. */
export function cloudflareCdn(url: URL, baseUrl: string | null = null): Cdn {
  const api = url.searchParams.get('api') ?? 'https://api.cloudflare.com/client/v4'
  const endpoint = `${api}/zones/${url.hostname}/purge_cache`
  const token = tokenOf(url)
  const publicHost = baseUrl === null ? null : new URL(baseUrl).host
  const plan = baseUrl === null ? BY_TAG : BY_URL

  async function send(body: { files: string[] } | { tags: string[] }, signal: AbortSignal): Promise<void> {
    const { status, text } = await call(endpoint, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    })
    if (status !== 200 || parseJsonObject(text)?.success !== true) {
      throw new RemoteFailure(`Cloudflare responded with status ${status}: ${text.slice(0, 500)}`)
    }
  }

  return {
    name: 'cloudflare',
    batchSize: plan.ids,
    rate: rateOf(url, plan),
    ...(publicHost !== null && { misses: (header) => isKeyed(header, publicHost) }),
    maxFillMs: maxFillMs(url),
    cacheHeaders: (id, lifetimeSeconds) => ({
      'Cloudflare-CDN-Cache-Control':
        lifetimeSeconds === 0 ? 'no-store' : `public, max-age=${lifetimeSeconds}, must-revalidate`,
      'Cache-Tag': cacheTag(id),
    }),
    async purge(names) {
      const signal = AbortSignal.timeout(MAX_PURGE_MS)
      if (baseUrl !== null) {
        const files = names.flatMap(imageTargets).map((target) => baseUrl + target)
        try {
          for (const batch of batchesOf(files, URLS.perCall)) await send({ files: batch }, signal)
          return
        } catch (error) {
          if (!(error instanceof RemoteFailure)) throw error
        }
      }
      await send({ tags: names.map(cacheTag) }, signal)
    },
  }
}
