/** The cache that `CDN_URL` names. */
import type { Cdn } from '../../cdn/cdn.ts'
import { cloudflareCdn } from '../../cdn/cloudflare.ts'
import { fastlyCdn } from '../../cdn/fastly.ts'
import { nginxCdn } from '../../cdn/nginx.ts'
import { varnishCdn } from '../../cdn/varnish.ts'

const PROVIDERS: Record<string, (url: URL) => Cdn> = {
  'cloudflare:': cloudflareCdn,
  'fastly:': fastlyCdn,
  'nginx:': nginxCdn,
  'varnish:': varnishCdn,
}

/** Throws an `Error` that says what is wrong with the URL, without what is secret in it. */
export function openCdn(cdnUrl: string): Cdn {
  const url = new URL(cdnUrl)
  const provider = PROVIDERS[url.protocol]
  if (provider === undefined || url.hostname === '') {
    throw new Error(`CDN_URL must begin with one of ${Object.keys(PROVIDERS).join('//, ')}// and a name`)
  }
  return provider(url)
}
