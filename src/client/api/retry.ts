import { type ServerRefusal, Unreachable } from '../errors.ts'
import { NetworkFault } from './transport.ts'

/** A temporary failure of the server (408, 429, 5xx). A retry may succeed. */
export class TransientFailure extends Error {
  readonly refusal: ServerRefusal

  constructor(refusal: ServerRefusal) {
    super(`the service answered ${refusal.status}: ${refusal.detail}`)
    this.refusal = refusal
  }
}

export interface RetryPolicy {
  /** Maximum number of attempts after the first one. Default: `DEFAULT_RETRIES`. */
  retries?: number | undefined
  /** Called after a failure. Returns false when a retry would be too late. */
  mayRetry?: (() => boolean) | undefined
  signal?: AbortSignal | undefined
  onWait?: ((attempt: number, seconds: number, cause: Error) => void) | undefined
}

/** Time and randomness, so that tests can replace them. */
export interface Clock {
  /** Rejects with the signal's reason if the signal aborts first. */
  sleep(seconds: number, signal?: AbortSignal): Promise<void>
  /** 0 to 1. */
  random(): number
  /** Time since a fixed epoch. Unit: milliseconds. */
  now(): number
  /** Resolves once the device reports that it is online. */
  online(signal?: AbortSignal): Promise<void>
}

export const realClock: Clock = {
  random: Math.random,
  now: Date.now,
  sleep: (seconds, signal) =>
    until(signal, (resolve) => {
      const timer = setTimeout(resolve, seconds * 1000)
      return () => clearTimeout(timer)
    }),
  // `onLine` is false only when the device is certainly offline. Outside browsers it is undefined.
  online: (signal) =>
    globalThis.navigator?.onLine === false
      ? until(signal, (resolve) => {
          addEventListener('online', resolve)
          return () => removeEventListener('online', resolve)
        })
      : Promise.resolve(),
}

/** Resolves when `start`'s callback is called, rejects when the signal aborts. Runs the returned cleanup either way. */
function until(signal: AbortSignal | undefined, start: (resolve: () => void) => () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const cancel = () => {
      cleanUp()
      reject(signal?.reason)
    }
    const cleanUp = start(() => {
      signal?.removeEventListener('abort', cancel)
      cleanUp()
      resolve()
    })
    signal?.addEventListener('abort', cancel, { once: true })
  })
}

export const DEFAULT_RETRIES = 3
const FIRST_DELAY_SECONDS = 1

/**
 * Runs `attempt` until it succeeds, with exponential backoff between attempts: 1, 2, 4, 8 … s, each shortened by up to half
 * (jitter, so that clients that failed together don't retry together), but at least as long as the service's `Retry-After`.
 * Waiting to come back online doesn't count as an attempt.
 */
export async function withRetries<T>(
  attempt: (number: number) => Promise<T>,
  { retries = DEFAULT_RETRIES, mayRetry = () => true, signal, onWait }: RetryPolicy,
  clock: Clock,
): Promise<T> {
  for (let number = 1; ; number++) {
    try {
      return await attempt(number)
    } catch (error) {
      signal?.throwIfAborted()
      if (!(error instanceof NetworkFault || error instanceof TransientFailure)) throw error
      const giveUp = (): never => {
        throw error instanceof TransientFailure ? error.refusal : new Unreachable(number, error)
      }
      if (number > retries || !mayRetry()) giveUp()
      const backoff = FIRST_DELAY_SECONDS * 2 ** (number - 1) * (1 - clock.random() / 2)
      const retryAfter = error instanceof TransientFailure ? (error.refusal.retryAfterSeconds ?? 0) : 0
      const seconds = Math.max(backoff, retryAfter)
      onWait?.(number + 1, seconds, error)
      await clock.sleep(seconds, signal)
      await clock.online(signal)
      if (!mayRetry()) giveUp()
    }
  }
}
