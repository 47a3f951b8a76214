/** Opens the cache configured in `CDN_URL`. */
import type { Cdn } from '../../cdn/cdn.ts'
import { cloudflareCdn } from '../../cdn/cloudflare.ts'
import { fastlyCdn } from '../../cdn/fastly.ts'
import { nginxCdn } from '../../cdn/nginx.ts'
import { varnishCdn } from '../../cdn/varnish.ts'

interface Provider {
  parameters: string[]
  open(url: URL, baseUrl: string | null): Cdn
}

const API_PARAMETERS = ['token', 'purges', 'burst', 'fill', 'api']
const HOST_PARAMETERS = ['peer', 'fill']

const PROVIDERS: Record<string, Provider> = {
  'cloudflare:': { parameters: API_PARAMETERS, open: cloudflareCdn },
  'fastly:': { parameters: API_PARAMETERS, open: fastlyCdn },
  'nginx:': { parameters: HOST_PARAMETERS, open: nginxCdn },
  'varnish:': { parameters: HOST_PARAMETERS, open: varnishCdn },
}

/**
 * `baseUrl`: the service's, if known. Throws an `Error` that explains what is wrong with the URL without revealing its secrets.
 */
export function openCdn(cdnUrl: string, baseUrl: string | null = null): Cdn {
  const url = new URL(cdnUrl)
  const provider = PROVIDERS[url.protocol]
  if (provider === undefined || url.hostname === '') {
    throw new Error(
      `CDN_URL must begin with one of ${Object.keys(PROVIDERS).join('//, ')}// followed by a name`,
    )
  }
  const { parameters } = provider
  // A misspelled parameter could leave out a cache, which would then never be purged.
  if (![...url.searchParams.keys()].every((name) => parameters.includes(name))) {
    throw new Error(`CDN_URL: ${url.protocol}// only accepts the parameters ${parameters.join(', ')}`)
  }
  return provider.open(url, baseUrl)
}
