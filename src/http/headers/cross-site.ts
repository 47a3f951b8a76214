/** Stops other sites from uploading through their visitors' browsers, unless the operator allows their origin. */
import { Refusal } from '../../errors.ts'

export interface Origins {
  /**
   * Throws `Refusal('cross-site')`. Non-browser clients send none of the checked headers and pass. `header`: takes a
   * lower-case name.
   */
  assertAllowed(header: (name: string) => string | undefined): void
  /** CORS headers for an allowed origin; none for any other. */
  corsHeaders(origin: string | undefined): Record<string, string>
}

export function createOrigins(baseUrl: string, allowed: string[]): Origins {
  const own = new URL(baseUrl).origin
  const others = new Set(allowed)

  return {
    assertAllowed(header) {
      const origin = header('origin')
      if (origin !== undefined && (origin === own || others.has(origin))) return
      const site = header('sec-fetch-site')
      if (site === 'same-origin' || site === 'none') return
      if (site === undefined && (origin === undefined || isHost(origin, header('host')))) return
      throw new Refusal(
        'cross-site',
        'Another website made your browser send this request. This server does not allow requests from that website.',
      )
    },
    corsHeaders(origin): Record<string, string> {
      if (origin === undefined || !others.has(origin)) return {}
      return {
        'Access-Control-Allow-Origin': origin,
        'Access-Control-Allow-Methods': 'POST, DELETE',
        'Access-Control-Allow-Headers':
          'Accept, Authorization, Challenge-Solution, Content-Digest, Content-Type, Idempotency-Key',
        'Access-Control-Expose-Headers':
          'Location, RateLimit, RateLimit-Policy, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-Request-Id',
        'Access-Control-Max-Age': '86400',
        Vary: 'Origin',
      }
    },
  }
}

/** True if the origin's host is the `Host` of the request. For browsers that send no `Sec-Fetch-Site`. */
function isHost(origin: string, host: string | undefined): boolean {
  return URL.canParse(origin) && new URL(origin).host === host
}
