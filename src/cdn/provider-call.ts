/** One call of a provider's API, bounded in time, with its failures told apart. */
import { clampRetryAfterMs } from '../async.ts'
import { RemoteFailure } from '../errors.ts'
import { retryAfterMs } from '../retry-after.ts'
import { MAX_PURGE_MS } from './cdn.ts'

/** An answer longer than this says nothing that a purge needs. */
const ANSWER_BYTES = 64 * 1024

export interface ProviderAnswer {
  status: number
  text: string
}

export type Fetch = (request: string, init: RequestInit) => Promise<Response>

/**
 * Sends a request and reads the answer. Throws `RemoteFailure` if there is none in time, and for 429 and 503 with the
 * time that `Retry-After` names. Other statuses are for the caller to judge. A purge of several calls gives all of them
 * one `signal`.
 */
export async function call(fetch: Fetch, url: string, init: RequestInit): Promise<ProviderAnswer> {
  const signal = init.signal ?? AbortSignal.timeout(MAX_PURGE_MS)
  let response: Response
  let text: string
  try {
    response = await fetch(url, { ...init, signal, redirect: 'error' })
    text = (await response.text()).slice(0, ANSWER_BYTES)
  } catch (cause) {
    throw new RemoteFailure('the provider did not answer', undefined, { cause })
  }
  if (response.status === 429 || response.status === 503) {
    const waitMs = clampRetryAfterMs(retryAfterMs(response.headers.get('Retry-After')))
    throw new RemoteFailure(`the provider answered ${response.status}`, waitMs)
  }
  return { status: response.status, text }
}

/** All are asked, also when one of them fails. Throws what the first threw, when all are done. */
export async function onEach(names: string[], ask: (name: string) => Promise<void>): Promise<void> {
  for (const outcome of await Promise.allSettled(names.map(ask))) {
    if (outcome.status === 'rejected') throw outcome.reason
  }
}

/** Longest fill, unless the URL names another with `fill` (seconds): caches wait so long for a first byte. */
const MAX_FILL_MS = 60_000

export function maxFillMs(url: URL): number {
  const named = url.searchParams.get('fill')
  if (named === null) return MAX_FILL_MS
  if (!/^\d{1,4}$/.test(named)) throw new Error('CDN_URL: fill is a number of seconds')
  return Number(named) * 1000
}

/** What the provider allows, unless the URL names `purges` (calls a minute) and `burst`. */
export function rateOf(
  url: URL,
  known: { aMinute: number; burst: number },
): { intervalMs: number; burst: number } {
  const aMinute = wholeNumber(url, 'purges') ?? known.aMinute
  return { intervalMs: Math.ceil(60_000 / aMinute), burst: wholeNumber(url, 'burst') ?? known.burst }
}

function wholeNumber(url: URL, name: string): number | undefined {
  const named = url.searchParams.get(name)
  if (named === null) return undefined
  if (!/^[1-9]\d{0,5}$/.test(named)) throw new Error(`CDN_URL: ${name} is a whole number from 1`)
  return Number(named)
}

/** A parameter that the URL must have. */
export function required(url: URL, name: string): string {
  const value = url.searchParams.get(name)
  if (!value) throw new Error(`CDN_URL: ${url.protocol}// needs ?${name}=…`)
  return value
}
