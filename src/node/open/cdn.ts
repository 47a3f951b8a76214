/** The cache that `CDN_URL` names. */
import type { Cdn } from '../../cdn/cdn.ts'
import { cloudflareCdn } from '../../cdn/cloudflare.ts'
import { fastlyCdn } from '../../cdn/fastly.ts'
import { nginxCdn } from '../../cdn/nginx.ts'
import { varnishCdn } from '../../cdn/varnish.ts'

const PROVIDERS: Record<string, (url: URL, baseUrl: string | null) => Cdn> = {
  'cloudflare:': (url, baseUrl) => cloudflareCdn(url, fetch, baseUrl),
  'fastly:': (url) => fastlyCdn(url),
  'nginx:': (url) => nginxCdn(url),
  'varnish:': (url) => varnishCdn(url),
}

/** `baseUrl`: of the service, if it is known. Throws an `Error` that says what is wrong with the URL, without what is secret in it. */
export function openCdn(cdnUrl: string, baseUrl: string | null = null): Cdn {
  const url = new URL(cdnUrl)
  const provider = PROVIDERS[url.protocol]
  if (provider === undefined || url.hostname === '') {
    throw new Error(`CDN_URL must begin with one of ${Object.keys(PROVIDERS).join('//, ')}// and a name`)
  }
  return provider(url, baseUrl)
}
