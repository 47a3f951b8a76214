/** The cache that `CDN_URL` names. */
import type { Cdn } from '../../cdn/cdn.ts'
import { cloudflareCdn } from '../../cdn/cloudflare.ts'
import { fastlyCdn } from '../../cdn/fastly.ts'
import { nginxCdn } from '../../cdn/nginx.ts'
import { varnishCdn } from '../../cdn/varnish.ts'

interface Provider {
  parameters: string[]
  open(url: URL, baseUrl: string | null): Cdn
}

const OF_API = ['token', 'purges', 'burst', 'fill', 'api']
const OF_HOSTS = ['peer', 'fill']

const PROVIDERS: Record<string, Provider> = {
  'cloudflare:': { parameters: OF_API, open: (url, baseUrl) => cloudflareCdn(url, fetch, baseUrl) },
  'fastly:': { parameters: OF_API, open: (url) => fastlyCdn(url) },
  'nginx:': { parameters: OF_HOSTS, open: (url) => nginxCdn(url) },
  'varnish:': { parameters: OF_HOSTS, open: (url) => varnishCdn(url) },
}

/** `baseUrl`: of the service, if it is known. Throws an `Error` that says what is wrong with the URL, without what is secret in it. */
export function openCdn(cdnUrl: string, baseUrl: string | null = null): Cdn {
  const url = new URL(cdnUrl)
  const provider = PROVIDERS[url.protocol]
  if (provider === undefined || url.hostname === '') {
    throw new Error(`CDN_URL must begin with one of ${Object.keys(PROVIDERS).join('//, ')}// and a name`)
  }
  const { parameters } = provider
  // A cache that a misspelled name leaves out would never be purged.
  if (![...url.searchParams.keys()].every((name) => parameters.includes(name))) {
    throw new Error(
      `CDN_URL: the parameters of ${url.protocol}// are ${parameters.join(', ')}, and no others`,
    )
  }
  return provider.open(url, baseUrl)
}
