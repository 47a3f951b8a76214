/** Headers that many responses share. */
import { API_CATALOG_PATH, API_DOCUMENT_PATH, API_PAGE_PATH } from '../../protocol.ts'

/** The bearer token in `Authorization`, if any (RFC 6750, 2.1). */
export function bearerOf(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
}

/** Headers of every response. HSTS only when the base URL is https. */
export function commonHeaders(baseUrl: string): [string, string][] {
  const headers: [string, string][] = [
    ['X-Content-Type-Options', 'nosniff'],
    ['Referrer-Policy', 'no-referrer'],
  ]
  if (baseUrl.startsWith('https:')) headers.push(['Strict-Transport-Security', 'max-age=63072000'])
  return headers
}

/**
 * `blob:` and `data:` are for thumbnails of selected files. `inline`: extra script sources. `resizer`: extra image
 * origin. Both start with a space, or are empty.
 */
function policy(inline = '', resizer = ''): string {
  return [
    "default-src 'none'",
    `img-src 'self' blob: data:${resizer}`,
    "style-src 'self'",
    `script-src 'self' 'wasm-unsafe-eval'${inline}`,
    "worker-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types pinhole pinhole-page',
  ].join('; ')
}

/** The policy of pages that show previews. `script`: base64 SHA-256 of an inline script. `resizer`: origin that serves previews. */
export function policyWith({ script, resizer }: Record<'script' | 'resizer', string | undefined>): string {
  return policy(script && ` 'sha256-${script}'`, resizer && ` ${resizer}`)
}

/** Headers of every page. The policy allows no inline script or style. */
export const PAGE_HEADERS: Record<string, string> = {
  'Cache-Control': 'private, no-cache',
  'CDN-Cache-Control': 'no-store',
  'Content-Security-Policy': policy(),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
  'X-Frame-Options': 'DENY',
  Vary: 'Accept-Language, Accept-Encoding',
}

/** `Cache-Control` of responses that must not be cached. */
export const NO_STORE = 'no-store'

/** `Cache-Control` of pages that contain a key: no proxy may compress them, see `sendCompressed`. */
export const NO_STORE_NO_TRANSFORM = 'no-store, no-transform'

/** Links to the API descriptions (RFC 8631, RFC 9727), on the pages where a program may start. */
export const SERVICE_LINKS = [
  `<${API_DOCUMENT_PATH}>; rel="service-desc"; type="application/json"`,
  `<${API_PAGE_PATH}>; rel="service-doc"; type="text/html"`,
  `<${API_CATALOG_PATH}>; rel="api-catalog"`,
].join(', ')
