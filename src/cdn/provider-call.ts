/** A call to a provider's API, with a timeout and error handling. */
import { clampRetryAfterMs } from '../async.ts'
import { RemoteFailure } from '../errors.ts'
import { retryAfterMs } from '../retry-after.ts'
import { MAX_PURGE_MS } from './cdn.ts'

export interface ProviderResponse {
  status: number
  /** The status line's text. */
  reason: string
  headers: Headers
  text: string
}

/**
 * Sends a request and reads the response. Throws `RemoteFailure` if there is none in time, and for 429 and 503, with the
 * delay from `Retry-After`. Other statuses are left to the caller. A purge with several calls passes the same `signal` to
 * all of them.
 */
export async function call(url: string, init: RequestInit): Promise<ProviderResponse> {
  const signal = init.signal ?? AbortSignal.timeout(MAX_PURGE_MS)
  let response: Response
  let text: string
  try {
    response = await fetch(url, { ...init, signal, redirect: 'error' })
    text = await response.text()
  } catch (cause) {
    throw new RemoteFailure('the provider did not respond', undefined, { cause })
  }
  if (response.status === 429 || response.status === 503) {
    const waitMs = clampRetryAfterMs(retryAfterMs(response.headers.get('Retry-After')))
    throw new RemoteFailure(`the provider responded with status ${response.status}`, waitMs)
  }
  const { status, statusText: reason, headers } = response
  return { status, reason, headers, text }
}

/** Runs all calls concurrently and waits for all of them, even if some fail. Throws the first failure by order of `names`. */
export async function onEach(names: string[], run: (name: string) => Promise<void>): Promise<void> {
  for (const outcome of await Promise.allSettled(names.map(run))) {
    if (outcome.status === 'rejected') throw outcome.reason
  }
}

/** Default maximum duration of a fill: how long caches wait for a first byte. */
const MAX_FILL_MS = 60_000

/** Maximum duration of a cache fill: the URL's parameter `fill` (seconds), or the default. */
export function maxFillMs(url: URL): number {
  const value = url.searchParams.get('fill')
  if (value === null) return MAX_FILL_MS
  if (!/^\d{1,4}$/.test(value)) throw new Error('CDN_URL: fill must be a number of seconds')
  return Number(value) * 1000
}

/** The rate limit: the URL's parameters `purges` (calls a minute) and `burst`, or the provider's defaults. */
export function rateOf(
  url: URL,
  defaults: { perMinute: number; burst: number },
): { intervalMs: number; burst: number } {
  const perMinute = wholeNumber(url, 'purges') ?? defaults.perMinute
  return { intervalMs: Math.ceil(60_000 / perMinute), burst: wholeNumber(url, 'burst') ?? defaults.burst }
}

function wholeNumber(url: URL, name: string): number | undefined {
  const value = url.searchParams.get(name)
  if (value === null) return undefined
  if (!/^[1-9]\d{0,5}$/.test(value)) throw new Error(`CDN_URL: ${name} must be a whole number, at least 1`)
  return Number(value)
}

/** The `token` parameter. Throws if it is missing. */
export function tokenOf(url: URL): string {
  const token = url.searchParams.get('token')
  if (!token) throw new Error(`CDN_URL: ${url.protocol}// needs ?token=…`)
  return token
}
