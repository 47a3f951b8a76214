import { type ServerRefusal, Unreachable } from '../errors.ts'
import { NetworkFault } from './transport.ts'

/** The server failed (408, 429, 5xx) in a way that may pass. */
export class Failing extends Error {
  readonly refusal: ServerRefusal

  constructor(refusal: ServerRefusal) {
    super(`the service answered ${refusal.status}: ${refusal.detail}`)
    this.name = 'Failing'
    this.refusal = refusal
  }
}

export interface RetryPolicy {
  /** Tries after the first one. Default: `DEFAULT_RETRIES`. */
  retries?: number | undefined
  /** Asked after a failure: false if another try would come too late. */
  mayRepeat?: (() => boolean) | undefined
  signal?: AbortSignal | undefined
  onWait?: ((attempt: number, seconds: number, cause: Error) => void) | undefined
}

/** What a test replaces. */
export interface Clock {
  /** Rejects with the signal's reason if that comes first. */
  sleep(seconds: number, signal?: AbortSignal): Promise<void>
  /** 0 to 1. */
  random(): number
  /** Since some moment that stays the same. Unit: milliseconds. */
  now(): number
  /** Resolves once the device believes that it is online. */
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
  // `onLine` is false only when it is certain; where it doesn't exist, nothing is known.
  online: (signal) =>
    globalThis.navigator?.onLine === false
      ? until(signal, (resolve) => {
          addEventListener('online', resolve)
          return () => removeEventListener('online', resolve)
        })
      : Promise.resolve(),
}

/** Resolves when `start`'s callback is called, rejects when the signal fires; undoes the start either way. */
function until(signal: AbortSignal | undefined, start: (resolve: () => void) => () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const cancel = () => {
      undo()
      reject(signal?.reason)
    }
    const undo = start(() => {
      signal?.removeEventListener('abort', cancel)
      undo()
      resolve()
    })
    signal?.addEventListener('abort', cancel, { once: true })
  })
}

export const DEFAULT_RETRIES = 3
const FIRST_DELAY_SECONDS = 1

/**
 * Runs `attempt` until it gives a result, waiting between tries: 1, 2, 4, 8 … s, each shortened by up to half so
 * that clients that failed together don't come back together; or as long as the service asks for. Waiting for the
 * network to come back costs no try.
 */
export async function withRetries<T>(
  attempt: (number: number) => Promise<T>,
  { retries = DEFAULT_RETRIES, mayRepeat = () => true, signal, onWait }: RetryPolicy,
  clock: Clock,
): Promise<T> {
  for (let number = 1; ; number++) {
    try {
      return await attempt(number)
    } catch (error) {
      signal?.throwIfAborted()
      if (!(error instanceof NetworkFault || error instanceof Failing)) throw error
      const giveUp = (): never => {
        throw error instanceof Failing ? error.refusal : new Unreachable(number, error)
      }
      if (number > retries || !mayRepeat()) giveUp()
      const backoff = FIRST_DELAY_SECONDS * 2 ** (number - 1) * (1 - clock.random() / 2)
      const asked = error instanceof Failing ? (error.refusal.retryAfterSeconds ?? 0) : 0
      const seconds = Math.max(backoff, asked)
      onWait?.(number + 1, seconds, error)
      await clock.sleep(seconds, signal)
      await clock.online(signal)
      if (!mayRepeat()) giveUp()
    }
  }
}
