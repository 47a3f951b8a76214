/**
 * nginx with the cache purge module, purged by URL. `nginx://host:port?peer=host:port&peer=…`, with
 * deploy/nginx/pinhole.conf loaded.
 */
import { RemoteFailure } from '../errors.ts'
import { type Cdn, cacheTag, imageTargets, MAX_PURGE_MS } from './cdn.ts'
import { call, type Fetch, maxFillMs, onEach } from './provider-call.ts'

/** Small, as each image has five to thirteen URLs, and each URL takes a call. */
const BATCH_SIZE = 10

/** For a URL that is not cached, the module responds with 404 or 412, depending on its version. */
const DONE = [200, 204, 404, 412]

export function nginxCdn(url: URL, fetch: Fetch = globalThis.fetch): Cdn {
  const hosts = [url.host, ...url.searchParams.getAll('peer')]
  return {
    name: 'nginx',
    batchSize: BATCH_SIZE,
    rate: null,
    maxFillMs: maxFillMs(url),
    cacheHeaders: (id, lifetimeSeconds) => ({
      'X-Accel-Expires': `${lifetimeSeconds}`,
      'Cache-Tag': cacheTag(id),
    }),
    async purge(names) {
      const signal = AbortSignal.timeout(MAX_PURGE_MS)
      const purge = (host: string, target: string) => purgeOne(fetch, { host, target, signal })
      await onEach(hosts, async (host) => {
        for (const name of names) await onEach(imageTargets(name), (target) => purge(host, target))
      })
    },
  }
}

async function purgeOne(
  fetch: Fetch,
  { host, target, signal }: { host: string; target: string; signal: AbortSignal },
): Promise<void> {
  const { status } = await call(fetch, `http://${host}/purge${target}`, { method: 'PURGE', signal })
  if (!DONE.includes(status)) throw new RemoteFailure(`nginx at ${host} responded with status ${status}`)
}
