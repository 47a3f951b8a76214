/** Headers that many answers share. */
import { API_CATALOG_PATH, API_DOCUMENT_PATH, API_PAGE_PATH } from '../../protocol.ts'

/** The token in `Authorization`; `undefined` if there is none (RFC 6750, 2.1). */
export function bearerOf(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
}

/** On every answer. HSTS only where the base URL is https. */
export function commonHeaders(baseUrl: string): [string, string][] {
  const headers: [string, string][] = [
    ['X-Content-Type-Options', 'nosniff'],
    ['Referrer-Policy', 'no-referrer'],
  ]
  if (baseUrl.startsWith('https:')) headers.push(['Strict-Transport-Security', 'max-age=63072000'])
  return headers
}

/** `blob:` and `data:` are for previews of chosen pictures. `inline`: scripts besides the service's own files. `resizer`: an origin. */
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

/** The policy of pages with previews. `script`: an inline one, by its SHA-256 in base64. `resizer`: where previews may lead to. */
export function policyWith({ script, resizer }: { script?: string; resizer?: string | undefined }): string {
  return policy(script && ` 'sha256-${script}'`, resizer && ` ${resizer}`)
}

/** On every page. No inline script, no inline style. */
export const PAGE_HEADERS: Record<string, string> = {
  'Cache-Control': 'private, no-cache',
  'CDN-Cache-Control': 'no-store',
  'Content-Security-Policy': policy(),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
  'X-Frame-Options': 'DENY',
  Vary: 'Accept-Language, Accept-Encoding',
}

/** On answers that no cache may keep. */
export const NO_STORE = 'no-store'

/** Where the interface is described (RFC 8631, RFC 9727). On the pages that programs may start from. */
export const SERVICE_LINKS = [
  `<${API_DOCUMENT_PATH}>; rel="service-desc"; type="application/json"`,
  `<${API_PAGE_PATH}>; rel="service-doc"; type="text/html"`,
  `<${API_CATALOG_PATH}>; rel="api-catalog"`,
].join(', ')
