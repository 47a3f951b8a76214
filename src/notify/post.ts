/** A POST to a receiver, with a timeout. */

import { clampRetryAfterMs } from '../async.ts'
import { RemoteFailure } from '../errors.ts'
import { retryAfterMs } from '../retry-after.ts'
import { MAX_DELIVERY_MS } from './notifier.ts'

/**
 * Follows no redirects, as the headers contain secrets for one host only. Throws `RemoteFailure` unless the response is 2xx.
 */
export async function post(url: string, headers: Record<string, string>, body: string): Promise<void> {
  const signal = AbortSignal.timeout(MAX_DELIVERY_MS)
  let response: Response
  try {
    response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' })
    // Only the status matters; the body may be of any length.
    await response.body?.cancel()
  } catch (cause) {
    throw new RemoteFailure('the receiver did not respond', undefined, { cause })
  }
  if (response.ok) return
  const waitMs = clampRetryAfterMs(retryAfterMs(response.headers.get('Retry-After')))
  throw new RemoteFailure(`the receiver responded with status ${response.status}`, waitMs)
}
