/**
 * nginx with the cache purge module, purged by URL. `nginx://127.0.0.1:8082?peer=host:port&peer=…`, with
 * deploy/nginx/pinhole.conf loaded.
 */
import { RemoteFailure } from '../errors.ts'
import { type Cdn, cacheTag, imageTargets, MAX_PURGE_MS } from './cdn.ts'
import { call, maxFillMs, onEach } from './provider-call.ts'

/** Small, as each image has five to thirteen URLs, and each URL takes a call. */
const BATCH_SIZE = 10

/** For a URL that is not cached, the module responds with 404 or 412, depending on its version. */
const DONE = [200, 204, 404, 412]

/** Added by pinhole.conf: any other site on the port responds with 404, too. */
const PURGE_HEADER = 'X-Pinhole-Purge'

export function nginxCdn(url: URL): Cdn {
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
      const purgeOne = async (host: string, target: string) => {
        const { status, headers } = await call(`http://${host}/purge${target}`, { method: 'PURGE', signal })
        if (!headers.has(PURGE_HEADER))
          throw new RemoteFailure(`nginx at ${host} has no current pinhole.conf on this port`)
        if (!DONE.includes(status))
          throw new RemoteFailure(`nginx at ${host} responded with status ${status}`)
      }
      await onEach(hosts, async (host) => {
        for (const name of names) await onEach(imageTargets(name), (target) => purgeOne(host, target))
      })
    },
  }
}
