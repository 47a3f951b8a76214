/** One POST to a receiver, bounded in time. */

import { clampRetryAfterMs } from '../async.ts'
import { RemoteFailure } from '../errors.ts'
import { retryAfterMs } from '../retry-after.ts'
import { MAX_DELIVERY_MS } from './notifier.ts'

/** Follows no redirect: what is secret in the headers is for one host. Throws `RemoteFailure` unless it is answered 2xx. */
export async function post(url: string, headers: Record<string, string>, body: string): Promise<void> {
  const signal = AbortSignal.timeout(MAX_DELIVERY_MS)
  let response: Response
  try {
    response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' })
    // The status is the answer; a body of any length is not waited for.
    await response.body?.cancel()
  } catch (cause) {
    throw new RemoteFailure('the receiver did not answer', undefined, { cause })
  }
  if (response.ok) return
  const waitMs = clampRetryAfterMs(retryAfterMs(response.headers.get('Retry-After')))
  throw new RemoteFailure(`the receiver answered ${response.status}`, waitMs)
}
