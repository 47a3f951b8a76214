/**
 * Varnish, purged with bans by tag. `varnish://host:port?peer=host:port&peer=…`, with deploy/varnish/pinhole.vcl loaded.
 *
 * One ban covers every variant of an image: with and without `dl=1`, with and without extension.
 */
import { RemoteFailure } from '../errors.ts'
import { type Cdn, cacheTag } from './cdn.ts'
import { call, maxFillMs, onEach } from './provider-call.ts'

const BATCH_SIZE = 50

export function varnishCdn(url: URL): Cdn {
  const hosts = [url.host, ...url.searchParams.getAll('peer')]
  return {
    name: 'varnish',
    batchSize: BATCH_SIZE,
    rate: null,
    maxFillMs: maxFillMs(url),
    cacheHeaders: (id, lifetimeSeconds) => ({
      'Surrogate-Control': `max-age=${lifetimeSeconds}`,
      'Cache-Tag': cacheTag(id),
    }),
    async purge(names) {
      const tags = `^(${names.map(cacheTag).join('|')})$`
      await onEach(hosts, async (host) => {
        const { status, reason } = await call(`http://${host}/`, {
          method: 'PURGE',
          headers: { 'X-Ban-Tags': tags },
        })
        // The reason is pinhole.vcl's: with another VCL, a PURGE of this URL may succeed without a ban.
        if (status !== 200 || reason !== 'Banned')
          throw new RemoteFailure(`Varnish at ${host} responded with status ${status} ${reason}`)
      })
    },
  }
}
