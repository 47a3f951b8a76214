/**
 * Varnish, purged with bans by tag. `varnish://host:port?peer=host:port&peer=…`, with deploy/varnish/pinhole.vcl loaded.
 *
 * One ban covers every variant of an image: with and without `dl=1`, with and without extension.
 */
import { RemoteFailure } from '../errors.ts'
import { type Cdn, cacheTag } from './cdn.ts'
import { call, type Fetch, maxFillMs, onEach } from './provider-call.ts'

const BATCH_SIZE = 50

export function varnishCdn(url: URL, fetch: Fetch = globalThis.fetch): Cdn {
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
        const { status } = await call(fetch, `http://${host}/`, {
          method: 'PURGE',
          headers: { 'X-Ban-Tags': tags },
        })
        if (status !== 200) throw new RemoteFailure(`Varnish at ${host} responded with status ${status}`)
      })
    },
  }
}
